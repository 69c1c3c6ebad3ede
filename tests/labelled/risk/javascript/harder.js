import express from 'express';
import { readFile } from 'node:fs/promises';
import * as helpers from './helpers.js';

const router = express.Router();

// risk: http.request->sql.query
export const list = async (req, res) => {
  const order = req.query.order || 'name';
  const sql = ['SELECT * FROM goods', 'ORDER BY', order].join(' ');
  const { rows } = await req.app.locals.pool.query(sql);
  res.json(rows);
};

// risk: none (only logged)
export const logged = async (req, res) => {
  console.log('asked for', req.query.order);
  res.json(await req.app.locals.pool.query('SELECT 1'));
};

// risk: cross http.request->child_process.exec
export async function packAll(req, res) {
  for (const folder of req.body.folders) {
    helpers.archive('now', folder);
  }
  res.end();
}

// risk: http.cookies->response.send
export function hello(req, res) {
  const { name = 'you' } = req.cookies;
  res.send(`<h1>Hello ${name}</h1>`);
}

// risk: none (cleaned by a helper of a module)
export function cleanHello(req, res) {
  const name = helpers.clean(req.cookies.name);
  res.send(`<h1>Hello ${name}</h1>`);
}

// risk: message->eval
export function onMessage(event) {
  const script = event.data.script;
  return new Function(script)();
}

// risk: none (a known action)
export function onAction(event) {
  const actions = { start: () => 1, stop: () => 2 };
  const action = actions[event.data.action];
  return action ? action() : null;
}

export class Loader {
  constructor(base) {
    this.base = base;
  }

  // risk: location->innerHTML
  render(element) {
    const params = new URLSearchParams(location.search);
    let html = '';
    for (const [key, value] of params) {
      html += `<dt>${key}</dt><dd>${value}</dd>`;
    }
    element.innerHTML = html;
  }

  // risk: cross location->innerHTML
  show(element) {
    this.write(element, location.hash);
  }

  write(element, text) {
    element.innerHTML = text;
  }

  // risk: none (as text)
  showText(element) {
    element.textContent = location.hash;
  }
}
