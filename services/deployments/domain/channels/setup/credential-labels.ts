/** The labels of the form of the console. */
const LABELS = {
  bot_token: 'Bot token',
  signing_secret: 'Signing secret',
  app_token: 'App-level token',
  application_id: 'Application ID',
  public_key: 'Public key',
};

/** A credential for a sentence: its label in the console and, in parentheses, its name in the API. */
export function credential(name: keyof typeof LABELS): string {
  return `${LABELS[name]} (${name})`;
}
