/** How long a wait may take, in milliseconds, in a test that has `limit`: so long that its error is still seen. */
export function timeoutWithin(limit = 0): number {
  return limit > 0 ? Math.min(10_000, limit * 0.8) : 10_000;
}

/** The default of a wait, by what the test runner allows. */
export function defaultTimeout(): number {
  const globals = globalThis as { before?: unknown; it?: unknown };
  if (process.env.JEST_WORKER_ID) {
    return timeoutWithin(limitOfJest());
  }
  if (process.env.VITEST) {
    return timeoutWithin(5000);
  }
  return timeoutWithin(globals.before && globals.it ? 2000 : 0); // Mocha, which does not tell
}

/** The limit of the running test. Jest keeps it to itself: where it is not found, it is that of a test that sets none. */
function limitOfJest(): number {
  const key = Object.getOwnPropertySymbols(globalThis).find(({ description }) => description === 'JEST_STATE_SYMBOL');
  const state = key && (globalThis as unknown as Record<symbol, { testTimeout?: number; currentlyRunningTest?: { timeout?: number } }>)[key];
  return state?.currentlyRunningTest?.timeout || state?.testTimeout || 5000;
}
