import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import { until } from '../support/wait.ts';

/** The smallest bytes that count as each image. */
export const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
export const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Operations on messages with parts over HTTP. */
export function partsApi(api: Api) {
  const messages = async (session: string) => {
    const { body } = await api.get(`/sessions/${session}/messages`);
    return body.data as { content: { [member: string]: unknown; text?: string }[] }[];
  };
  const text = async (session: string, index = -1) =>
    (await messages(session))
      .at(index)
      ?.content.map((part) => part.text ?? '')
      .join('');
  return {
    text,
    /** The content of a message as it is in the journal. */
    content: async (session: string, index: number) => (await messages(session)).at(index)?.content,
    async begin(agentId: string, members: object = {}): Promise<string> {
      const response = await api.post(`/agents/${agentId}/conversations`, members);
      expect(response.status, JSON.stringify(response.body)).toBe(201);
      return String(response.body.data.session_id);
    },
    /** Sends a message and returns the answer. */
    async ask(session: string, content: unknown): Promise<string | undefined> {
      const { length } = await messages(session);
      const sent = await api.post(`/sessions/${session}/messages`, { content });
      expect(sent.status, JSON.stringify(sent.body)).toBe(202);
      return until('the answer is there', async () => {
        return (await messages(session)).length >= length + 2 && text(session);
      });
    },
    async answer(session: string, index = 1): Promise<string | undefined> {
      return until('the answer is there', async () => {
        return (await messages(session)).length > index && text(session, index);
      });
    },
    /** Writes a file into the workspace. */
    async putFile(session: string, path: string, bytes: Uint8Array): Promise<void> {
      const form = new FormData();
      form.append('files', new Blob([Buffer.from(bytes)]), path);
      const response = await fetch(`${api.origin}/api/v1/sessions/${session}/files`, {
        method: 'POST',
        body: form,
      });
      expect(response.ok, await response.text()).toBe(true);
    },
    async upload(bytes: Uint8Array, query = 'media_type=image/png&name=u.png'): Promise<string> {
      const response = await fetch(`${api.origin}/api/v1/uploads?${query}`, {
        method: 'POST',
        body: Buffer.from(bytes),
        headers: { 'Content-Type': 'application/octet-stream' },
      });
      const { data } = (await response.json()) as { data: { upload_id: string } };
      return data.upload_id;
    },
  };
}
