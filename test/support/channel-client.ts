import { createHmac, randomUUID } from 'node:crypto';

/** A post as `GET /deployments/{deployment_id}/posts` returns it. */
export interface PulledPost {
  post_id: string;
  revision: number;
  conversation: string;
  kind: 'message' | 'approval' | 'notice' | 'file';
  text: string;
  final: boolean;
  session_id: string | null;
  turn_id: string | null;
  approval: { approval_id: string; tool: string; can_allow: boolean; decision: string | null } | null;
  file: { path: string; sha256: string } | null;
}

/** Signs a payload as Standard Webhooks does, with a secret `whsec_…`. */
export function signedHeaders(secret: string, payload: string): Record<string, string> {
  const id = randomUUID();
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` };
}

/** The other product of a channel with the provider `http`: sends messages and pulls posts. */
export function createChannelClient(origin: string, deploymentId: string, secret: string) {
  const path = `/api/v1/deployments/${deploymentId}`;
  const send = (event: object): Promise<Response> => {
    const body = JSON.stringify(event);
    return fetch(`${origin}${path}/callback`, { method: 'POST', headers: signedHeaders(secret, body), body });
  };
  return {
    send,
    sendMessage: (conversation: string, id: string, text: string, user = 'u1') =>
      send({
        type: 'message',
        conversation,
        user: { id: user, name: `User ${user}` },
        message: { id, text },
      }),
    /** Returns the posts after `after`. Waits for the first one up to `waitSeconds`. */
    async pull(after = '', waitSeconds = 0): Promise<{ posts: PulledPost[]; next_after: string }> {
      const target = `${path}/posts?after=${encodeURIComponent(after)}&wait_seconds=${waitSeconds}`;
      const response = await fetch(origin + target, { headers: signedHeaders(secret, target) });
      const { data, message } = (await response.json()) as { data: never; message: string };
      if (response.status !== 200) throw new Error(`the posts were not returned: ${message}`);
      return data;
    },
  };
}
