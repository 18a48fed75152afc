/** Why a call was refused: what the sender was answered, what has happened, and what to do about it. */
export interface Reason {
  status: number;
  text: string;
  remedy: string;
}

const SIGN_AGAIN = 'Send it as the code under “Send a request” does.';

const REASONS: Record<string, Reason> = {
  disabled: {
    status: 404,
    text: 'The trigger was disabled.',
    remedy: 'Enable the trigger to accept requests again.',
  },
  too_large: {
    status: 413,
    text: 'The body was larger than this service accepts.',
    remedy:
      'Send less, such as a link to the data. The limit is 10 MiB unless the operator has set another one.',
  },
  missing_timestamp: {
    status: 401,
    text: 'The header X-WEBHOOK-TIMESTAMP was missing.',
    remedy: `Requests have to be signed. ${SIGN_AGAIN}`,
  },
  duplicate_timestamp: {
    status: 401,
    text: 'The header X-WEBHOOK-TIMESTAMP was there more than once.',
    remedy: 'Send it once. Look whether a proxy in between adds one.',
  },
  malformed_timestamp: {
    status: 401,
    text: 'The timestamp was not a whole number of seconds.',
    remedy: 'Send seconds since 1970, in digits alone, such as 1767225600.',
  },
  stale_timestamp: {
    status: 401,
    text: 'The timestamp was too far from the time of this service.',
    remedy:
      'Set the clock of the sender, send seconds and not milliseconds, and sign each attempt anew. Unless the operator has set another limit, it may be 5 minutes off.',
  },
  missing_signature: {
    status: 401,
    text: 'The header X-WEBHOOK-SIGNATURE was missing.',
    remedy: `Requests have to be signed. ${SIGN_AGAIN}`,
  },
  duplicate_signature: {
    status: 401,
    text: 'The header X-WEBHOOK-SIGNATURE was there more than once.',
    remedy: 'Send it once. Look whether a proxy in between adds one.',
  },
  malformed_signature: {
    status: 401,
    text: 'The signature was not the Base64 of 32 bytes.',
    remedy:
      'Send the HMAC-SHA256 in standard Base64 with its padding, neither in hex nor in the URL-safe alphabet.',
  },
  bad_signature: {
    status: 401,
    text: 'The signature did not match.',
    remedy:
      'Look whether the sender has the secret of this trigger, and whether it sends exactly the bytes that it signs. If the secret is lost, replace the trigger.',
  },
  agent_deleted: {
    status: 409,
    text: 'The agent is deleted, or not shared any more with who created the trigger.',
    remedy: 'Share the agent again, or replace the trigger by one of another agent.',
  },
  agent_disabled: {
    status: 409,
    text: 'The agent is disabled or cannot run.',
    remedy: 'Open the agent and enable it.',
  },
  environment_disabled: {
    status: 409,
    text: 'The environment of the agent is disabled or deleted.',
    remedy: 'Have an administrator enable it, or give the agent another one.',
  },
  owner_disabled: {
    status: 409,
    text: 'Who created the trigger is disabled. Its sessions would be theirs.',
    remedy: 'Replace the trigger by one of your own.',
  },
  quota_exceeded: {
    status: 429,
    text: 'Who created the trigger has used up what they may start.',
    remedy: 'The sender was told when to come again. An administrator can allow more.',
  },
  unavailable: {
    status: 503,
    text: 'A part of this service could not be reached.',
    remedy: 'Send it again. If this goes on, an administrator finds out more in the log of the service.',
  },
};

/** One that this console does not know is said as the service says it. */
export function reasonOf(name: string): Reason | undefined {
  return REASONS[name];
}

export const wordsFor = (name: string | null): string =>
  name === null ? 'It was refused.' : (reasonOf(name)?.text ?? `It was refused: ${name}.`);
