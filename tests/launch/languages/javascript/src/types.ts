/** Something that is done later. */
export type Task<T> = (signal?: AbortSignal) => Promise<T>;
