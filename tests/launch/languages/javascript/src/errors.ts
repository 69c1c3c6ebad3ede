/** The queue refuses a task. */
export class QueueError extends Error {}
