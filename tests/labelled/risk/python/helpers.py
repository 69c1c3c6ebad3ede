"""What the handlers call."""

import os
import shlex

from flask import request


def archive(folder, note=""):
    name = folder.strip("/")
    command = "tar cf /tmp/a.tar " + name
    os.system(command)
    return note


def find_order(cursor, number):
    statement = "SELECT * FROM orders WHERE id = " + str(number)
    cursor.execute(statement)
    return cursor.fetchone()


def read_setting(name):
    value = os.environ[name]
    return value


def label_of(name):
    known = os.environ.get(name)
    return "nginx" if known == "web" else "sshd"


def spoken(text):
    quoted = shlex.quote(text)
    return quoted


def as_number(text):
    return str(int(text))


def harmless(text):
    shown = shlex.quote(text)
    print(shown)
    return text


def fetch_page():
    body = request.get_data()
    return body.decode()
