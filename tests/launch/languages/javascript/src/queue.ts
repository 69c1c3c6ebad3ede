import { QueueError } from './errors.js';
import type { Task } from './types.js';

/** What a queue can be told. */
export interface QueueOptions {
  /**
   * How many tasks run at the same time.
   * @defaultValue 4
   */
  limit?: number;
  /** Ends everything that still waits. */
  signal?: AbortSignal;
}

/**
 * A queue of tasks. Use {@link QueueOptions} to configure it.
 *
 * @example
 * const queue = new Queue({ limit: 1 });
 * await queue.add(async () => 42);
 */
export class Queue {
  private waiting: Task<unknown>[] = [];

  /**
   * Make a queue.
   * @param options - What it can be told.
   */
  constructor(options: QueueOptions = {}) {}

  /** How many tasks wait. */
  get size(): number {
    return this.waiting.length;
  }

  /**
   * Add a task to the end of the queue.
   *
   * @param task - What is to be done.
   * @param name - A name for messages.
   * @returns What the task returns.
   * @throws {QueueError} If the queue was closed.
   */
  add<T>(task: Task<T>, name?: string): Promise<T> {
    throw new QueueError(name ?? 'closed');
  }

  /**
   * Wait until nothing is left.
   * @deprecated Use `add` and wait for its result.
   */
  async drain(): Promise<void> {}

  /** @internal */
  _step(): void {}
}

// Not for users: it is exported to the tests alone.
export function reset(): void {}
