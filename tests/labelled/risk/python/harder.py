"""Less obvious shapes: awaits, methods, comprehensions, context managers, decorators, early returns."""

import asyncio
import functools
import logging
import os
import sqlite3
import subprocess
from pathlib import Path

from aiohttp import web
from django.http import HttpResponse
from flask import Blueprint, request

from .helpers import archive, spoken

bp = Blueprint("shop", __name__)
log = logging.getLogger(__name__)
ALLOWED = {"a", "b"}


# risk: http.request->sql.execute
@bp.route("/search")
def search_route():
    with sqlite3.connect("shop.db") as conn:
        order = request.args.get("order", "name")
        rows = conn.execute("SELECT * FROM goods ORDER BY %s" % order).fetchall()
    return {"rows": rows}


# risk: http.request->file.open
async def read_file(request: web.Request):
    name = request.match_info["name"]
    with open(os.path.join("/srv", name), "rb") as file:
        return web.Response(body=file.read())


# risk: none (only logged)
def logged():
    log.info("asked for %s", request.args["x"])
    return subprocess.run(["ls"], check=True)


# risk: http.request->html.raw
def answer(request):
    lines = [f"<li>{item}</li>" for item in request.GET.getlist("item")]
    return HttpResponse("".join(lines))


# risk: cross http.request->os.system
def pack_later():
    folder = request.json["folder"]
    job = {"folder": folder}
    archive(job["folder"])


# risk: none (a different key was cleaned and used)
def spoken_only():
    text = spoken(request.json["text"])
    os.system("say " + text)


# risk: process.env->subprocess.shell
async def shell_of_environment():
    program = os.environ.get("PROGRAM") or "ls"
    line = " ".join([program, "-l"])
    subprocess.Popen(line, shell=True)
    await asyncio.sleep(0)


# risk: none (the length only)
def counted():
    count = len(request.data)
    os.system("logger received " + str(count))


class Repository:
    def __init__(self, cursor):
        self.cursor = cursor

    # risk: http.request->sql.execute
    def remove(self):
        ids = ",".join(request.form.getlist("id"))
        self.cursor.execute("DELETE FROM goods WHERE id IN (" + ids + ")")

    # risk: cross http.request->sql.execute
    def rename(self):
        new = request.form["name"]
        self._save("goods", new)

    def _save(self, table, name):
        self.cursor.execute(f"UPDATE {table} SET name = '{name}'")

    # risk: none (bound in the helper)
    def rename_bound(self):
        self._save_bound(request.form["name"])

    def _save_bound(self, name):
        self.cursor.execute("UPDATE goods SET name = ?", (name,))


# risk: none (the name of the file only)
def stored():
    upload = request.files["picture"]
    target = Path("/srv") / os.path.basename(upload.filename)
    return open(target, "wb")


# risk: http.request->os.system
def wrapped():
    @functools.cache
    def host():
        return request.args["host"]

    os.system("ping " + host())


# risk: none (the other one of the pair)
def paired():
    name, count = request.args["name"], "3"
    os.system("repeat " + count)
    return name


# risk: http.request->os.system
def paired_badly():
    name, count = "it", request.args["count"]
    os.system("repeat " + count + name)


# risk: http.request->os.system
def swapped():
    name, count = request.args["name"], "3"
    name, count = count, name
    os.system("repeat " + count)
