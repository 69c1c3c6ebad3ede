"""Handlers of a small shop; what a comment says is what a person sees."""

import os
import pickle
import shlex
import subprocess
import sys

import requests
from flask import redirect, render_template_string, request

from helpers import archive, as_number, fetch_page, find_order, harmless, label_of, read_setting, spoken


# risk: http.request->os.system
def ping():
    host = request.args["host"]
    os.system("ping -c 1 " + host)


# risk: none (quoted)
def ping_quoted():
    host = shlex.quote(request.args["host"])
    os.system(f"ping -c 1 {host}")


# risk: http.request->sql.execute
def by_name(cursor):
    name = request.form.get("name")
    statement = f"SELECT * FROM goods WHERE name = '{name}'"
    cursor.execute(statement)


# risk: none (bound)
def by_name_bound(cursor):
    name = request.form.get("name")
    cursor.execute("SELECT * FROM goods WHERE name = %s", (name,))


# risk: process.argv->subprocess.shell
def convert():
    target = sys.argv[1]
    subprocess.run(f"convert {target} out.png", shell=True, check=True)


# risk: none (no shell, a fixed program)
def convert_safely():
    target = sys.argv[1]
    subprocess.run(["convert", target, "out.png"], check=True)


# risk: http.cookies->deserialize
def restore():
    return pickle.loads(bytes.fromhex(request.cookies["state"]))


# risk: none (a constant)
def restore_default():
    state = request.cookies["state"]
    if state:
        return pickle.loads(b"N.")
    return None


# risk: http.request->template.string
def greet():
    text = "<h1>Hello " + request.args.get("name", "") + "</h1>"
    return render_template_string(text)


# risk: none (replaced before it is used)
def greet_all():
    name = request.args.get("name")
    name = "everybody"
    return render_template_string("<h1>Hello " + name + "</h1>")


# risk: http.request->http.fetch
def mirror():
    addresses = []
    for part in request.args.getlist("from"):
        addresses.append("http://" + part)
    return [requests.get(address, timeout=5) for address in addresses]


# risk: none (only compared)
def mirror_known():
    is_internal = request.args["from"] == "internal"
    address = "http://a.example" if is_internal else "http://b.example"
    return requests.get(address, timeout=5)


# risk: http.request->redirect
def leave():
    where = request.args.get("next")
    if not where:
        where = "/"
    return redirect(where)


# risk: none (a number)
def page():
    number = int(request.args["page"])
    return redirect(f"/list/{number}")


# risk: cross http.request->os.system
def pack():
    folder = request.form["folder"]
    archive(folder)


# risk: none (the other parameter is harmless)
def pack_fixed():
    note = request.form["note"]
    archive("/srv/goods", note)


# risk: cross http.request->sql.execute
def order(cursor):
    number = request.view_args["number"]
    return find_order(cursor, number=number)


# risk: none (cleaned by the caller)
def order_checked(cursor):
    number = int(request.view_args["number"])
    return find_order(cursor, number=number)


# risk: cross process.env->os.system
def reload_service():
    os.system("systemctl reload " + read_setting("SERVICE"))


# risk: none (the helper gives back a constant)
def reload_fixed():
    os.system("systemctl reload " + label_of("SERVICE"))


# risk: none (cleaned inside of the helper)
def say():
    os.system("say " + spoken(request.args["text"]))


# risk: none (a number, made by the helper)
def nice():
    os.system("nice -n " + as_number(request.args["level"]) + " make")


# risk: http.request->os.system
def say_twice():
    text = harmless(request.args["text"])
    os.system("say " + text)


# risk: cross http.request->eval
def compute():
    expression = fetch_page()
    return eval(expression)


class Tool:
    # risk: cross process.stdin->os.system
    def ask(self):
        line = input("command? ")
        self._run(line)

    def _run(self, line):
        os.system(line)

    # risk: none (a method of the same name that does nothing)
    def pretend(self):
        line = input("command? ")
        self.system(line)

    def system(self, line):
        print(line)


# risk: none (somebody's own function of this name)
def checked():
    return system(request.args["x"])


def system(name):
    return name.upper()
