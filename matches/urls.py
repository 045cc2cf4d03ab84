"""Addresses of the matches app."""

from __future__ import annotations

from django.urls import URLPattern, path

from matches import ranking_views, report_views, rules_views, statement_views, table_views, views
from matches.inbox import views as inbox
from players.window_views import at_cashier

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("lobby/", table_views.lobby_index, name="lobby_index"),
    path("lobby/<slug:pool_slug>/", table_views.lobby_page, name="lobby"),
    path("lobby/<slug:pool_slug>/tables/", table_views.lobby_tables, name="lobby_tables"),
    path("lobby/<slug:pool_slug>/open/", table_views.open_table, name="open_table"),
    path("lobby/<slug:pool_slug>/pairing/", table_views.seek, name="seek"),
    path("lobby/<slug:pool_slug>/pairing/stop/", table_views.give_up, name="give_up"),
    path("lobby/<slug:pool_slug>/invite/", table_views.invite, name="invite"),
    path("lobby/<slug:pool_slug>/challenge/<str:slug>/", table_views.challenge, name="challenge"),
    path("tables/<int:table_id>/", table_views.table_page, name="table"),
    path("tables/<int:table_id>/seat/", table_views.take_seat, name="take_seat"),
    path("tables/<int:table_id>/leave/", table_views.leave_table, name="leave_table"),
    path("tables/<int:table_id>/decline/", table_views.decline, name="decline"),
    path("invitations/<str:token>/", table_views.table_page, name="invitation"),
    path("invitations/<str:token>/seat/", table_views.take_seat, name="invitation_seat"),
    path("matches/<int:match_id>/rematch/", table_views.rematch, name="rematch"),
    path("cashier/statement/", at_cashier(statement_views.statement), name="cashier_statement"),
    path("cashier/statement/csv/", at_cashier(statement_views.statement_csv), name="cashier_statement_csv"),
    path("cashier/messages/", inbox.messages, name="cashier_messages"),
    path("cashier/messages/read/", inbox.read_all, name="read_messages"),
    path("cashier/messages/<int:message_id>/", inbox.read_message, name="read_message"),
    path("rankings/<slug:pool_slug>.csv", ranking_views.ranking_csv, name="ranking_csv"),
    path("rules/", rules_views.rules_index, name="rules_index"),
    path("rules/<slug:pool_slug>/", rules_views.rules, name="rules"),
    path("simulator/", rules_views.simulator_index, name="simulator_index"),
    path("simulator/players.json", rules_views.simulator_players, name="simulator_players"),
    path("simulator/<slug:pool_slug>/", rules_views.simulator, name="simulator"),
    path("matches/<int:match_id>/", views.match, name="match"),
    path("matches/<int:match_id>/report/", report_views.report, name="report"),
    path("matches/<int:match_id>/appeal/", report_views.appeal, name="appeal"),
    path("matches/unfinished/", report_views.mine, name="unfinished"),
    path("reports/<int:report_id>/confirm/", report_views.confirm, name="report_confirm"),
    path("reports/<int:report_id>/dispute/", report_views.dispute, name="report_dispute"),
    path("reports/<int:report_id>/withdraw/", report_views.withdraw, name="report_withdraw"),
]
