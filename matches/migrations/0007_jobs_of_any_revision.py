import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("matches", "0006_events"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="correctionjob",
            options={
                "ordering": ("-made_at", "-id"),
                "verbose_name": "revision in the background",
                "verbose_name_plural": "revisions in the background",
            },
        ),
        migrations.RenameField(model_name="correctionjob", old_name="corrections", new_name="work"),
        migrations.AlterField(
            model_name="correctionjob",
            name="work",
            field=models.JSONField(help_text="See `matches.job_rows`.", verbose_name="what is to be done"),
        ),
        migrations.AlterField(
            model_name="correctionjob",
            name="pool",
            field=models.ForeignKey(
                help_text="None for a merge.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="jobs",
                to="players.pool",
                verbose_name="pool",
            ),
        ),
        migrations.AlterField(
            model_name="correctionjob",
            name="status",
            field=models.CharField(
                choices=[
                    ("previewing", "being previewed"),
                    ("previewed", "waits for confirmation"),
                    ("applying", "being applied"),
                    ("done", "done"),
                    ("withdrawn", "withdrawn"),
                    ("failed", "failed"),
                ],
                default="previewing",
                max_length=12,
                verbose_name="status",
            ),
        ),
    ]
