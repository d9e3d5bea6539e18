/** A parsed JSON or TOML value whose keys are read as own properties only, so that `__proto__` and `constructor` are ordinary names. */
export type Table = Readonly<Record<string, unknown>>;

export const isTable = (value: unknown): value is Table =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

/** The value at a path of keys, undefined when any of them is missing. */
export function valueAt(value: unknown, ...keys: string[]): unknown {
  let current = value;
  for (const key of keys) {
    if (!isTable(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

/** The trimmed, non-empty string at a path of keys. */
export function stringAt(value: unknown, ...keys: string[]): string | undefined {
  const found = valueAt(value, ...keys);
  return typeof found === "string" && found.trim() !== "" ? found.trim() : undefined;
}

/** The table at a path of keys, empty when it is missing or something else. */
export function tableAt(value: unknown, ...keys: string[]): Table {
  const found = valueAt(value, ...keys);
  return isTable(found) ? found : {};
}

/** The own entries of the table at a path of keys. */
export const entriesAt = (value: unknown, ...keys: string[]): [string, unknown][] =>
  Object.entries(tableAt(value, ...keys));

/** The items of the list at a path of keys. */
export function listAt(value: unknown, ...keys: string[]): unknown[] {
  const found = valueAt(value, ...keys);
  return Array.isArray(found) ? found : [];
}
