/** Reason of a rejected request: response status, cause and remedy. */
export interface RejectionReason {
  status: number;
  text: string;
  remedy: string;
}

const SIGNING_HINT = 'See the code under “Send a request”.';

const REASONS: Record<string, RejectionReason> = {
  disabled: {
    status: 404,
    text: 'The webhook was disabled.',
    remedy: 'Enable the webhook to accept requests again.',
  },
  too_large: {
    status: 413,
    text: 'The body exceeded the size limit of this service.',
    remedy:
      'Send a smaller body, such as a link to the data. The default limit is 10 MiB; the operator can change it.',
  },
  missing_timestamp: {
    status: 401,
    text: 'The header X-WEBHOOK-TIMESTAMP was missing.',
    remedy: `Requests must be signed. ${SIGNING_HINT}`,
  },
  duplicate_timestamp: {
    status: 401,
    text: 'The header X-WEBHOOK-TIMESTAMP was sent more than once.',
    remedy: 'Send the header once. Check whether a proxy adds it.',
  },
  malformed_timestamp: {
    status: 401,
    text: 'The timestamp was not a whole number of seconds.',
    remedy: 'Send seconds since 1970 as digits, such as 1767225600.',
  },
  stale_timestamp: {
    status: 401,
    text: 'The timestamp differed too much from the time of this service.',
    remedy:
      'Correct the clock of the sender, send seconds instead of milliseconds, and sign each attempt again. The default tolerance is 5 minutes; the operator can change it.',
  },
  missing_signature: {
    status: 401,
    text: 'The header X-WEBHOOK-SIGNATURE was missing.',
    remedy: `Requests must be signed. ${SIGNING_HINT}`,
  },
  duplicate_signature: {
    status: 401,
    text: 'The header X-WEBHOOK-SIGNATURE was sent more than once.',
    remedy: 'Send the header once. Check whether a proxy adds it.',
  },
  malformed_signature: {
    status: 401,
    text: 'The signature was not 32 bytes in Base64.',
    remedy: 'Send the HMAC-SHA256 in standard Base64 with padding, not in hexadecimal or URL-safe Base64.',
  },
  bad_signature: {
    status: 401,
    text: 'The signature did not match.',
    remedy:
      'Check that the sender uses the secret of this webhook and sends exactly the bytes that it signs. If the secret is lost, replace the webhook.',
  },
  agent_deleted: {
    status: 409,
    text: 'The agent was deleted, or the creator of the webhook lost access to it.',
    remedy: 'Share the agent again, or replace the webhook with one for another agent.',
  },
  agent_disabled: {
    status: 409,
    text: 'The agent is disabled or cannot run.',
    remedy: 'Enable the agent.',
  },
  environment_disabled: {
    status: 409,
    text: 'The environment of the agent is disabled or deleted.',
    remedy: 'Ask an administrator to enable it, or select another environment for the agent.',
  },
  owner_disabled: {
    status: 409,
    text: 'The creator of the webhook, who would own its sessions, is disabled.',
    remedy: 'Replace the webhook with your own.',
  },
  quota_exceeded: {
    status: 429,
    text: 'The creator of the webhook has reached a quota.',
    remedy: 'The response told the sender when to retry. An administrator can raise the quota.',
  },
  unavailable: {
    status: 503,
    text: 'A part of this service could not be reached.',
    remedy: 'Send the request again. If the problem persists, check the log of the service.',
  },
};

/** Returns undefined for a reason that this release of the console does not know. */
export function rejectionReason(name: string): RejectionReason | undefined {
  return REASONS[name];
}

export const rejectionText = (name: string | null): string =>
  name === null ? 'Rejected.' : (rejectionReason(name)?.text ?? `Rejected: ${name}.`);
