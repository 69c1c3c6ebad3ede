const { exec, execFile } = require('child_process');
const fs = require('fs');
const path = require('path');
const express = require('express');
const db = require('./db');
const { archive, clean, readTarget, pick, toCount, quoteAll } = require('./helpers');

// risk: http.request->child_process.exec
function ping(req, res) {
  const host = req.query.host;
  exec('ping -c 1 ' + host, () => res.end());
}

// risk: none (a fixed program)
function pingSafely(req, res) {
  execFile('ping', ['-c', '1', req.query.host], () => res.end());
}

// risk: http.request->sql.query
async function byName(req, res) {
  const { name } = req.body;
  const rows = await db.query(`SELECT * FROM goods WHERE name = '${name}'`);
  res.json(rows);
}

// risk: none (bound)
async function byNameBound(req, res) {
  const { name } = req.body;
  const rows = await db.query('SELECT * FROM goods WHERE name = $1', [name]);
  res.json(rows);
}

// risk: http.request->eval
function compute(req, res) {
  res.json({ result: eval(req.body.expression) });
}

// risk: none (parsed, not evaluated)
function parse(req, res) {
  res.json({ result: JSON.parse(req.body.expression) });
}

// risk: location->innerHTML
function greet() {
  const name = decodeURIComponent(location.hash.slice(1));
  document.getElementById('greeting').innerHTML = 'Hello ' + name;
}

// risk: none (as text)
function greetAsText() {
  const name = decodeURIComponent(location.hash.slice(1));
  document.getElementById('greeting').textContent = 'Hello ' + name;
}

// risk: http.request->file.read
function download(req, res) {
  const file = path.join('/srv/files', req.params.file);
  res.json(fs.readFileSync(file, 'utf8'));
}

// risk: none (the last part of the path only)
function downloadSafely(req, res) {
  const file = path.join('/srv/files', path.basename(req.params.file));
  res.json(fs.readFileSync(file, 'utf8'));
}

// risk: http.request->http.fetch
async function mirror(req, res) {
  let address = req.query.from;
  if (!address.startsWith('http')) {
    address = 'http://' + address;
  }
  const answer = await fetch(address);
  res.json(await answer.json());
}

// risk: none (only compared)
async function mirrorKnown(req, res) {
  const inside = req.query.from === 'inside';
  const answer = await fetch(inside ? 'http://a.example' : 'http://b.example');
  res.json(await answer.json());
}

// risk: http.request->redirect
function leave(req, res) {
  res.redirect(req.query.next);
}

// risk: none (a number)
function page(req, res) {
  const number = parseInt(req.query.page, 10);
  res.redirect('/list/' + number);
}

// risk: http.headers->response.send
function echoAgent(req, res) {
  const parts = [];
  parts.push('<p>', req.headers['user-agent'], '</p>');
  res.send(parts.join(''));
}

// risk: none (replaced)
function echoNothing(req, res) {
  let agent = req.headers['user-agent'];
  agent = 'hidden';
  res.send('<p>' + agent + '</p>');
}

// risk: cross http.request->child_process.exec
function pack(req, res) {
  const folder = req.body.folder;
  archive('now', folder);
  res.end();
}

// risk: none (the harmless parameter)
function packFixed(req, res) {
  archive(req.body.note, '/srv/goods');
  res.end();
}

// risk: cross process.env->child_process.exec
function reload() {
  const target = readTarget();
  exec('systemctl reload ' + target);
}

// risk: none (cleaned by the helper)
function show(req, res) {
  res.send('<p>' + clean(req.query.text) + '</p>');
}

// risk: none (a constant of the helper)
function reloadFixed() {
  exec('systemctl reload ' + pick(process.env.SERVICE));
}

// risk: none (made a number by the helper)
function nice(req, res) {
  exec('nice -n ' + toCount(req.query.level) + ' make');
  res.end();
}

// risk: http.request->child_process.exec
function quoted(req, res) {
  exec('ls ' + quoteAll(req.query.what));
  res.end();
}

class Shell {
  // risk: cross process.argv->eval
  start() {
    const line = process.argv[2];
    this.perform(line);
  }

  perform(line) {
    return eval(line);
  }

  // risk: none (a comment and a string)
  pretend() {
    const line = process.argv[2];
    // eval(line)
    return "eval(line)";
  }
}

const app = express();
app.get('/ping', ping);
module.exports = { app, pingSafely, byName, byNameBound, compute, parse, Shell };
