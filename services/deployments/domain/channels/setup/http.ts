import { plainText, type SetupFacts, type SetupStep, step } from './step.ts';

const SIGNING = `webhook-id: a new text for each request
webhook-timestamp: the current time in seconds since 1970
webhook-signature: v1,<Base64 of HMAC-SHA256(key, "<webhook-id>.<webhook-timestamp>.<payload>")>

key: the Base64 text behind whsec_ in the shared secret, decoded
payload of a POST: the body, byte for byte
payload of a GET: the path and query, as sent`;

export function httpSteps({ callbackUrl, hasDelivery, credentialNames }: SetupFacts): SetupStep[] {
  const message = {
    type: 'message',
    conversation: 'room-1',
    user: { id: 'user-1', name: 'Ada' },
    message: { id: 'message-1', text: 'Hello' },
  };
  const postsUrl = callbackUrl.replace(/\/callback$/, '/posts?after=&wait_seconds=60');
  return [
    step(
      'secret',
      'Store the shared secret in the other product: the response to the creation of the channel has contained it once.',
      credentialNames.length > 0,
    ),
    step('sign', 'Sign each request as Standard Webhooks describes, with these headers.', hasDelivery, {
      url: 'https://www.standardwebhooks.com',
      ...plainText(SIGNING),
    }),
    step('first_message', `Send a signed POST request with a message to ${callbackUrl}.`, hasDelivery, {
      content: JSON.stringify(message, undefined, 2),
      contentType: 'application/json',
    }),
    step(
      'pull',
      'Pull the answers with signed GET requests, each with the next_after of the response before.',
      hasDelivery,
      plainText(postsUrl),
    ),
  ];
}
