import { exec } from 'node:child_process';
import { Request, Response } from 'express';
import { Store } from './store';
import { removeFolder, tidy } from './tidying';

// risk: http.request->child_process.exec
export function build(req: Request, res: Response): void {
  const target: string = req.body.target;
  exec(`make ${target}`);
}

// risk: none (a number)
export function buildTimes(req: Request, res: Response): void {
  const count: number = Number(req.body.count);
  exec(`make -j ${count}`);
}

// risk: cross http.request->file.write
export async function forget(req: Request, res: Response): Promise<void> {
  await removeFolder(req.params.folder);
}

// risk: none (cleaned by the helper)
export async function forgetSafely(req: Request, res: Response): Promise<void> {
  exec('rm -r ' + tidy(req.params.folder));
}

export class Orders {
  constructor(private readonly store: Store) {}

  // risk: cross http.request->sql.query
  async find(req: Request): Promise<unknown> {
    const id = req.params.id as string;
    return this.load(id);
  }

  private async load(id: string): Promise<unknown> {
    const db = this.store.db;
    return db.query('SELECT * FROM orders WHERE id = ' + id);
  }

  // risk: none (bound)
  async findBound(req: Request): Promise<unknown> {
    const db = this.store.db;
    return db.query('SELECT * FROM orders WHERE id = $1', [req.params.id]);
  }
}
