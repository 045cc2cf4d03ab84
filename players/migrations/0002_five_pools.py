"""The five pools that every site starts with."""

from django.db import migrations

from players import systems

POOLS = (
    ("fibs", "FIBS", "fibs"),
    ("crowns-cup", "Crowns Cup", "crowns_cup"),
    ("online-backgammon", "Online Backgammon", "online_backgammon"),
    ("freewhist", "FreeWhist", "freewhist"),
    ("tics", "TICS", "tics"),
)


def make_pools(apps, schema_editor):
    pools, tiers = apps.get_model("players", "Pool").objects, apps.get_model("players", "Tier").objects
    for slug, name, key in POOLS:
        system = systems.get(key)
        pool = pools.create(
            slug=slug,
            name=name,
            system=key,
            game=system.game,
            parameters=system().params.to_json(),
            shown_decimals=system.shown_decimals,
            provisional_below=system.provisional_below,
        )
        tiers.bulk_create(
            tiers.model(pool=pool, name=tier.name, threshold=tier.threshold, decays=tier.decays) for tier in system.tiers
        )


class Migration(migrations.Migration):
    dependencies = [("players", "0001_initial")]

    operations = [migrations.RunPython(make_pools, migrations.RunPython.noop)]
