/** A member of something, as it is shown and compared: by its text. */
export interface ShownField {
  label: string;
  /** Empty for nothing. */
  text: string;
}

export interface FieldChange {
  label: string;
  before: string;
  after: string;
}

/** The fields that differ, in their order. Both sides have the same ones. */
export function changedFields(before: readonly ShownField[], after: readonly ShownField[]): FieldChange[] {
  return after.flatMap(({ label, text }) => {
    const was = before.find((one) => one.label === label)?.text ?? '';
    return was === text ? [] : [{ label, before: was, after: text }];
  });
}

/** A JSON object with a line for each member, in an order that says nothing. */
export function objectText(value: Record<string, unknown>): string {
  const names = Object.keys(value).sort();
  return names.length === 0
    ? ''
    : JSON.stringify(Object.fromEntries(names.map((name) => [name, value[name]])), null, 2);
}
