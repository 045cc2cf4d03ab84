"""Addresses of files: before those of the players' app, whose addresses below the cashier's are of pools."""

from __future__ import annotations

from django.urls import URLPattern, path

from matches.exports import views

urlpatterns: list[URLPattern] = [
    path("cashier/data/", views.data, name="own_data"),
    path("pools/<slug:pool_slug>/files/", views.files, name="pool_files"),
    path("pools/<slug:pool_slug>/files/<slug:what>.<slug:form>", views.file, name="pool_file"),
]
