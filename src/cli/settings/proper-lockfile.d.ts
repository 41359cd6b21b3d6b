declare module "proper-lockfile" {
  interface LockOptions {
    realpath?: boolean;
    lockfilePath?: string;
    /** Milliseconds after which a lock whose owner has died may be taken over. */
    stale?: number;
    retries?: { retries: number; factor: number; minTimeout: number; maxTimeout: number; randomize: boolean };
    onCompromised?: (error: Error) => void;
  }
  /** Resolves with the function that releases the lock. */
  export function lock(file: string, options?: LockOptions): Promise<() => Promise<void>>;
}
