/**
 * Queues that run a limited number of tasks at a time.
 *
 * @packageDocumentation
 */
export { Queue, type QueueOptions } from './queue.js';
export * from './errors.js';
export { delay as wait } from './timers.js';
export type { Task } from './types.js';

/** How many tasks run at once where nothing else is said. */
export const DEFAULT_LIMIT = 4;
