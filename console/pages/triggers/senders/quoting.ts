/** A text as JavaScript, Python and Go write it. A URL holds nothing that they write differently. */
export const literal = (text: string) => JSON.stringify(text);

/** Reads the secret without showing it or leaving it in the history of the shell. */
export const SET_SECRET = 'read -rs WEBHOOK_SECRET && export WEBHOOK_SECRET';
