/** Formats a value as indented JSON. */
export const jsonText = (value: unknown) => JSON.stringify(value, null, 2) ?? 'null';

/** Formats tool output: a string unchanged, any other value as JSON. */
export const outputText = (value: unknown) => (typeof value === 'string' ? value : jsonText(value));
