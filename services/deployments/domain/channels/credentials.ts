import { FieldProblems, pointerSegment } from '../../../../lib/field-problems.ts';
import type { Secret } from '../../../../lib/secret.ts';
import { type ConnectionMode, type CredentialSummary, PRODUCT_NAMES, type Provider } from './channel.ts';

interface CredentialForm {
  pattern: RegExp;
  /** Completes "must …". */
  form: string;
  /** The modes that need it; all when absent. */
  requiredBy?: readonly ConnectionMode[];
}

/** Printable ASCII without spaces. */
const TEXT = /^[\x21-\x7e]{8,512}$/;

/** The credentials that an owner copies from each product. */
const FORMS: Readonly<Record<Exclude<Provider, 'http'>, Readonly<Record<string, CredentialForm>>>> = {
  slack: {
    bot_token: { pattern: /^xoxb-[\x21-\x7e]{4,512}$/, form: 'be a bot token that begins with xoxb-' },
    signing_secret: {
      pattern: TEXT,
      form: 'be the signing secret of the app, 8–512 characters without spaces',
      requiredBy: ['http'],
    },
    app_token: {
      pattern: /^xapp-[\x21-\x7e]{4,512}$/,
      form: 'be an app-level token that begins with xapp-',
      requiredBy: ['socket'],
    },
  },
  telegram: {
    bot_token: {
      pattern: /^\d{1,20}:[A-Za-z0-9_-]{8,200}$/,
      form: 'be the token of the bot: its number, a colon, and letters and digits',
    },
  },
  discord: {
    bot_token: { pattern: TEXT, form: 'be the token of the bot, 8–512 characters without spaces' },
    application_id: { pattern: /^\d{1,20}$/, form: 'be the id of the application, which has only digits' },
    public_key: {
      pattern: /^[0-9a-fA-F]{64}$/,
      form: 'be the public key of the application, which has 64 hexadecimal digits',
      requiredBy: ['http'],
    },
  },
};

/** The secret that signs the requests of a product that the provider http joins. */
export const SHARED_SECRET = 'shared_secret';
/** Telegram sends it with each update, so that updates of other senders are recognized. */
export const WEBHOOK_SECRET = 'webhook_secret';
/** Generated credentials that are never shown. */
const INTERNAL = new Set([WEBHOOK_SECRET]);

const HINT_CHARACTERS = 4;
/** The hint of a shorter value would reveal too much of it. */
const MIN_HINTED = 16;

/**
 * Checks the credentials of a request. A channel has all credentials that its mode needs, or none yet: the setup at some
 * products needs its callback URL. Refused with INVALID_REQUEST.
 */
export function checkCredentials(
  provider: Provider,
  mode: ConnectionMode,
  given: Readonly<Record<string, Secret>>,
  currentNames: readonly string[],
): void {
  const problems = new FieldProblems();
  if (provider === 'http') checkGenerated(given, problems);
  else checkForms(provider, mode, given, currentNames, problems);
  problems.throwIfAny();
}

function checkGenerated(given: Readonly<Record<string, Secret>>, problems: FieldProblems): void {
  for (const name of Object.keys(given))
    problems.add(
      `/credentials${pointerSegment(name)}`,
      'must be absent: the secret of the provider http is generated and returned once. To replace it, create a new channel and delete this one',
    );
}

function checkForms(
  provider: Exclude<Provider, 'http'>,
  mode: ConnectionMode,
  given: Readonly<Record<string, Secret>>,
  currentNames: readonly string[],
  problems: FieldProblems,
): void {
  const forms = FORMS[provider];
  const names = Object.keys(forms);
  for (const [name, value] of Object.entries(given)) {
    const pointer = `/credentials${pointerSegment(name)}`;
    const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
    if (!form)
      problems.add(pointer, `is no credential of ${PRODUCT_NAMES[provider]}, which has ${names.join(', ')}`);
    else if (!form.pattern.test(value.reveal())) problems.add(pointer, `must ${form.form}`);
  }
  const setNames = [...Object.keys(given), ...currentNames];
  if (setNames.length === 0) return;
  for (const name of missingCredentials(provider, mode, setNames))
    problems.add(`/credentials/${name}`, `is required with the mode ${mode}`);
}

/** The names of the credentials that the mode needs and that are not set. */
export function missingCredentials(
  provider: Provider,
  mode: ConnectionMode,
  setNames: readonly string[],
): string[] {
  const forms = provider === 'http' ? {} : FORMS[provider];
  return Object.entries(forms)
    .filter(([name, { requiredBy }]) => !setNames.includes(name) && (requiredBy?.includes(mode) ?? true))
    .map(([name]) => name);
}

/** The summaries of credentials that are stored together. Replaced ones get the time `now`. */
export function summarize(
  credentials: Readonly<Record<string, Secret>>,
  current: readonly CredentialSummary[],
  changedNames: readonly string[],
  now: Date,
): CredentialSummary[] {
  const shown = Object.keys(credentials).filter((name) => !INTERNAL.has(name));
  return shown.toSorted().map((name) => {
    const known = changedNames.includes(name) ? undefined : current.find((one) => one.name === name);
    const text = credentials[name]?.reveal() ?? '';
    return (
      known ?? { name, hint: text.length < MIN_HINTED ? '' : text.slice(-HINT_CHARACTERS), updatedAt: now }
    );
  });
}
