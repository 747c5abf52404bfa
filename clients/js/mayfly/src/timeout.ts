/**
 * How long a wait may take in a test that began at `started` and has `limit` milliseconds: until a second before its end, or
 * half of what is left, so that its error is seen. After hooks that took all of it a runner has begun to count again.
 */
export function timeoutWithin(limit = 0, started = Date.now()): number {
  const left = limit - Math.max(Date.now() - started, 0);
  return limit > 0 ? Math.min(10_000, left > 0 ? Math.max(left - 1000, left / 2) : limit / 2) : 10_000;
}

/** A test, as Jest and Vitest keep it to themselves. */
interface Test {
  timeout?: number;
  startedAt?: number | null;
  result?: { startTime?: number };
}

type Globals = Record<symbol, { testTimeout?: number; currentlyRunningTest?: Test } | undefined> & {
  __vitest_worker__?: { current?: Test };
  before?: unknown;
  it?: unknown;
};

/** The default of a wait, by what the test runner allows. Where a test is not found, it is one that sets no limit. */
export function defaultTimeout(): number {
  const globals = globalThis as unknown as Globals;
  if (process.env.JEST_WORKER_ID) {
    const key = Object.getOwnPropertySymbols(globals).find(({ description }) => description === 'JEST_STATE_SYMBOL');
    const state = key && globals[key];
    const test = state?.currentlyRunningTest;
    return timeoutWithin(test?.timeout || state?.testTimeout || 5000, test?.startedAt ?? undefined);
  }
  if (process.env.VITEST) {
    const test = globals.__vitest_worker__?.current;
    return timeoutWithin(test?.timeout ?? 5000, test?.result?.startTime);
  }
  return timeoutWithin(globals.before && globals.it ? 2000 : 0); // Mocha, which tells nobody
}
