import { createHmac } from 'node:crypto';

/** The headers that prove a request to be Slack's (https://docs.slack.dev/authentication/verifying-requests-from-slack). */
export function signatureHeaders(secret: string, body: string, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const digest = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${digest}` };
}
