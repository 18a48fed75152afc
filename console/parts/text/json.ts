/** JSON as people read it. */
export const jsonText = (value: unknown) => JSON.stringify(value, null, 2) ?? 'null';

/** What a tool has answered: a text as it is, anything else as JSON. */
export const outputText = (value: unknown) => (typeof value === 'string' ? value : jsonText(value));
