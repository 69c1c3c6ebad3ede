/**
 * Wait for some time.
 * @param ms - How long, in milliseconds.
 */
export function delay(ms: number): Promise<void>;
export function delay(ms: number, signal: AbortSignal): Promise<void>;
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return Promise.resolve();
}
