// The cart of a shop, in the browser and on the server.
import fs from "node:fs";
import * as path from "node:path";
import { readFile as read, writeFile } from "node:fs/promises";
const { EventEmitter } = require("events");
const util = require("util");

export const LIMIT = 100;
const rates = { de: 0.19, fr: 0.2 };
let counter = 0;

/** One line of a cart. */
export class Line {
  #price = 0;
  static created = 0;

  constructor(name, count = 1, { tags = [], ...rest } = {}) {
    this.name = name;
    this.count = count;
    this.rest = rest;
    Line.created++;
  }

  get price() {
    return this.#price * this.count;
  }

  set price(value) {
    if (value < 0) throw new RangeError(`bad price ${value}`);
    this.#price = value;
  }

  static parse(text) {
    const { name, count } = JSON.parse(text);
    return new Line(name, count);
  }

  #hidden() {
    return this.#price;
  }

  handle = (event) => {
    this.count += event.detail ?? 1;
  };
}

export default class Cart extends EventEmitter {
  constructor() {
    super();
    this.lines = new Map();
  }

  add(line) {
    const known = this.lines.get(line.name);
    if (known && !known.closed) {
      known.count += line.count;
    } else {
      this.lines.set(line.name, line);
    }
    this.emit("change", this);
    return this;
  }

  remove(...names) {
    for (const name of names) {
      if (!this.lines.has(name)) continue;
      this.lines.delete(name);
    }
  }

  total(country = "de") {
    let sum = 0;
    this.lines.forEach((line) => {
      sum += line.price;
    });
    return withTax(sum, country);
  }

  async save(file) {
    try {
      await writeFile(file, JSON.stringify([...this.lines.values()]));
    } catch (error) {
      console.error(error);
      throw error;
    } finally {
      this.saved = true;
    }
  }

  *[Symbol.iterator]() {
    yield* this.lines.values();
  }
}

function withTax(sum, country) {
  const rate = rates[country] || 0;
  return sum * (1 + rate);
}

export async function load(file) {
  const text = await read(path.resolve(file), "utf8");
  const cart = new Cart();
  for (const item of JSON.parse(text)) {
    cart.add(new Line(item.name, item.count));
  }
  return cart;
}

export function* batches(items, size = 10) {
  for (let i = 0; i < items.length; i += size) {
    yield items.slice(i, i + size);
  }
}

async function* poll(url, { delay }) {
  while (true) {
    const answer = await fetch(url);
    if (answer.status === 404) break;
    yield answer.json();
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
}

const debounce = (fn, wait = 50) => {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), wait);
  };
};

const twice = (x) => x * 2;

export const format = function (amount) {
  switch (typeof amount) {
    case "number":
      return amount.toFixed(2);
    case "string":
      return amount;
    default:
      return "";
  }
};

const api = {
  get(id) {
    return fetch(`/items/${id}`);
  },
  async post(item) {
    return await fetch("/items", { method: "POST", body: JSON.stringify(item) });
  },
  remove: function (id) {
    return fetch(`/items/${id}`, { method: "DELETE" });
  },
  list: () => fetch("/items"),
};

function Legacy(name) {
  this.name = name;
}

Legacy.prototype.greet = function () {
  return "hello " + this.name;
};

Legacy.create = (name) => new Legacy(name);

function nextId() {
  counter += 1;
  return counter;
}

function walk(node, visit) {
  const queue = [node];
  while (queue.length) {
    const current = queue.shift();
    visit(current);
    queue.push(...current.children);
  }
}

function compare(a, b) {
  function key(line) {
    return line.name.toLowerCase();
  }
  return key(a) < key(b) ? -1 : 1;
}

function swap(list, i, j) {
  [list[i], list[j]] = [list[j], list[i]];
  delete list.cache;
}

export { nextId, walk as each };
module.exports.compare = compare;
exports.swap = swap;

if (import.meta.main) {
  load(process.argv[2]).then((cart) => console.log(cart.total()));
}

var round = function (price) {
        return Math.round(price);
    },
    currency = "EUR",
    format = (price) => `${round(price)} ${currency}`;
