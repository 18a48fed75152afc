/** A field of a resource as displayed and compared text. */
export interface DisplayedField {
  label: string;
  /** Empty when the field has no value. */
  text: string;
}

export interface FieldChange {
  label: string;
  before: string;
  after: string;
}

/** Returns the fields that differ, in the order of `after`. Both sides have the same labels. */
export function changedFields(
  before: readonly DisplayedField[],
  after: readonly DisplayedField[],
): FieldChange[] {
  return after.flatMap(({ label, text }) => {
    const was = before.find((field) => field.label === label)?.text ?? '';
    return was === text ? [] : [{ label, before: was, after: text }];
  });
}

/** Formats a JSON object with one line per member, sorted by name. */
export function objectText(value: Record<string, unknown>): string {
  const names = Object.keys(value).sort();
  return names.length === 0
    ? ''
    : JSON.stringify(Object.fromEntries(names.map((name) => [name, value[name]])), null, 2);
}
