/** Whether two values are equal as JSON, regardless of the order of object members. */
export function isSame(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** Returns the members of `after` that differ from `before`. */
export function changesOf<Value extends object>(before: Value, after: Value): Partial<Value> {
  const changes: Partial<Value> = {};
  for (const name of Object.keys(after) as (keyof Value)[])
    if (!isSame(before[name], after[name])) changes[name] = after[name];
  return changes;
}

/** Returns the saved draft with the changes that were made to `current` after `sent` was sent. */
export function withLaterChanges<Draft extends object>(saved: Draft, sent: Draft, current: Draft): Draft {
  return { ...saved, ...changesOf(sent, current) };
}

function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'object' && member !== null && !Array.isArray(member)
        ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
        : member,
    ) ?? 'undefined'
  );
}
