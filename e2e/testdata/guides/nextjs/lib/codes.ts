const kept = globalThis as unknown as { codes?: Map<string, string> };
export const codes = (kept.codes ??= new Map());
