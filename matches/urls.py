"""Addresses of the matches app."""

from __future__ import annotations

from django.urls import URLPattern, path

from matches import views
from matches.exports import ranking
from matches.inbox import views as inbox
from matches.lobby import views as lobby
from matches.money import views as money
from matches.reports import views as reports
from matches.rules import views as rules
from players.window_views import at_cashier

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
    path("lobby/", lobby.lobby_index, name="lobby_index"),
    path("lobby/<slug:pool_slug>/", lobby.lobby_page, name="lobby"),
    path("lobby/<slug:pool_slug>/tables/", lobby.lobby_tables, name="lobby_tables"),
    path("lobby/<slug:pool_slug>/open/", lobby.open_table, name="open_table"),
    path("lobby/<slug:pool_slug>/pairing/", lobby.seek, name="seek"),
    path("lobby/<slug:pool_slug>/pairing/stop/", lobby.give_up, name="give_up"),
    path("lobby/<slug:pool_slug>/invite/", lobby.invite, name="invite"),
    path("lobby/<slug:pool_slug>/challenge/<str:slug>/", lobby.challenge, name="challenge"),
    path("tables/<int:table_id>/", lobby.table_page, name="table"),
    path("tables/<int:table_id>/seat/", lobby.take_seat, name="take_seat"),
    path("tables/<int:table_id>/leave/", lobby.leave_table, name="leave_table"),
    path("tables/<int:table_id>/decline/", lobby.decline, name="decline"),
    path("invitations/<str:token>/", lobby.table_page, name="invitation"),
    path("invitations/<str:token>/seat/", lobby.take_seat, name="invitation_seat"),
    path("matches/<int:match_id>/rematch/", lobby.rematch, name="rematch"),
    path("cashier/statement/", at_cashier(money.statement), name="cashier_statement"),
    path("cashier/statement/csv/", at_cashier(money.statement_csv), name="cashier_statement_csv"),
    path("cashier/messages/", inbox.messages, name="cashier_messages"),
    path("cashier/messages/read/", inbox.read_all, name="read_messages"),
    path("cashier/messages/<int:message_id>/", inbox.read_message, name="read_message"),
    path("rankings/<slug:pool_slug>.csv", ranking.ranking_csv, name="ranking_csv"),
    path("rules/", rules.rules_index, name="rules_index"),
    path("rules/<slug:pool_slug>/", rules.rules, name="rules"),
    path("simulator/", rules.simulator_index, name="simulator_index"),
    path("simulator/players.json", rules.simulator_players, name="simulator_players"),
    path("simulator/<slug:pool_slug>/", rules.simulator, name="simulator"),
    path("matches/<int:match_id>/", views.match, name="match"),
    path("matches/<int:match_id>/seats/<int:seat>/", views.slip, name="slip"),
    path("matches/<int:match_id>/report/", reports.report, name="report"),
    path("matches/<int:match_id>/appeal/", reports.appeal, name="appeal"),
    path("matches/unfinished/", reports.mine, name="unfinished"),
    path("reports/<int:report_id>/confirm/", reports.confirm, name="report_confirm"),
    path("reports/<int:report_id>/dispute/", reports.dispute, name="report_dispute"),
    path("reports/<int:report_id>/withdraw/", reports.withdraw, name="report_withdraw"),
]
