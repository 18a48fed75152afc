/** String literal that is valid in JavaScript, Python and Go for every URL. */
export const literal = (text: string) => JSON.stringify(text);

/** Reads the secret without echoing it or storing it in the shell history. */
export const SET_SECRET = 'read -rs WEBHOOK_SECRET && export WEBHOOK_SECRET';
