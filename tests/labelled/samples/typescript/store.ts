/** A small store of settings with migrations and listeners. */
import { readFile } from "node:fs/promises";
import type { Logger } from "./logging";
import path, { join as joined } from "node:path";

export type Key = string | symbol;
type Listener<T> = (value: T, old?: T) => void;
export const VERSION = 3;
const defaults: Readonly<Record<string, number>> = { retries: 3 };
declare const BUILD: string;

export enum Level {
  Low = 1,
  High,
}

const enum Flag {
  None = 0,
}

export interface Store<T = unknown> {
  readonly size: number;
  get(key: Key): T | undefined;
  set(key: Key, value: T): this;
  on?(listener: Listener<T>): void;
}

interface Closable extends Disposable, PromiseLike<void> {
  close(): Promise<void>;
}

export namespace Paths {
  export const root = "/etc/app";
  export function of(name: string): string {
    return joined(root, name);
  }
}

function injectable(target: Function) {
  return target;
}

function logged(level: Level) {
  return (target: any, key: string) => {
    console.log(level, target, key);
  };
}

@injectable
export abstract class Base<T> implements Store<T> {
  protected readonly items = new Map<Key, T>();
  private static instances = 0;
  declare secret: string;

  constructor(private readonly log: Logger, public name: string = "base") {
    Base.instances += 1;
  }

  get size(): number {
    return this.items.size;
  }

  abstract migrate(from: number): Promise<void>;

  get(key: Key): T | undefined;
  get(key: Key, fallback: T): T;
  get(key: Key, fallback?: T): T | undefined {
    return this.items.get(key) ?? fallback;
  }

  set(key: Key, value: T): this {
    if (value === undefined || value === null) {
      throw new TypeError("no value");
    }
    this.items.set(key, value);
    return this;
  }

  protected static count(): number {
    return Base.instances;
  }
}

export class FileStore extends Base<string> implements Closable {
  #file: string;
  private dirty = false;

  constructor(log: Logger, file: string) {
    super(log, file);
    this.#file = file;
  }

  @logged(Level.High)
  override async migrate(from: number): Promise<void> {
    for (let version = from; version < VERSION; version++) {
      const step = steps[version];
      if (!step) continue;
      await step(this);
      this.dirty = true;
    }
  }

  async load(): Promise<number> {
    const text = await readFile(this.#file, "utf8");
    const lines = text.split("\n");
    for (const line of lines) {
      const [key, value] = line.split("=");
      this.items.set(key, value!);
    }
    return lines.length;
  }

  async close() {
    try {
      await this.flush();
    } catch (error: unknown) {
      if (error instanceof Error) {
        this.report(error);
      }
    }
  }

  private report = (error: Error): void => {
    console.error(error.message as string);
  };

  private async flush(): Promise<void> {
    this.dirty = false;
  }

  then<A>(done: (value: void) => A): PromiseLike<A> {
    return Promise.resolve().then(done);
  }

  *[Symbol.iterator](): Generator<Key> {
    yield* this.items.keys();
  }
}

const steps: Record<number, (store: FileStore) => Promise<void>> = {};

export function isKey(value: unknown): value is Key {
  return typeof value === "string" || typeof value === "symbol";
}

export const pick = <T, K extends keyof T>(item: T, ...keys: K[]): Pick<T, K> => {
  const result = {} as Pick<T, K>;
  keys.forEach((key) => {
    result[key] = item[key];
  });
  return result;
};

export async function open({ file, log }: { file: string; log: Logger }): Promise<FileStore> {
  const store = new FileStore(log, path.resolve(file));
  await store.load();
  return store;
}

function assertLevel(level: number): asserts level is Level {
  switch (level) {
    case Level.Low:
    case Level.High:
      return;
    default:
      throw new RangeError(`level ${level}`);
  }
}

export function* range(from: number, to = 10, step: number = 1): Generator<number> {
  while (from < to) {
    yield from;
    from += step;
  }
}

function wait(this: Window, ms: number): Promise<void> {
  return new Promise((resolve) => this.setTimeout(resolve, ms));
}

export default open;
export { assertLevel as checked, type Listener };
