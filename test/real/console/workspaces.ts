import { expect } from 'vitest';
import type { Stage } from './stage.ts';

/** Conversations with an agent that does in a simulated shell what it is told, and the files in them. */
export async function openWorkspaces({ api, system }: Stage) {
  const { body } = await api.post('/admin/environments', {
    name: 'files-in-the-console',
    sandbox: { provider: 'simulated' },
  });
  const environment_id = body.data.environment_id;
  const agent = await api.createAgent({ name: 'Shell', model: 'rehearsal/shell', environment_id });
  const urlOf = (session: string, rest = '') => `${system.url}/api/v1/sessions/${session}/files${rest}`;
  return {
    urlOf,
    begin: async () => String((await api.post(`/agents/${agent}/conversations`)).body.data.session_id),
    async put(session: string, files: Record<string, string>): Promise<void> {
      const form = new FormData();
      form.append('path', '');
      for (const [name, content] of Object.entries(files)) form.append('files', new File([content], name));
      expect((await fetch(urlOf(session), { method: 'POST', body: form })).status).toBe(201);
    },
    async bytesOf(session: string, path: string): Promise<Buffer> {
      const answer = await fetch(urlOf(session, `/content?path=${encodeURIComponent(path)}`));
      expect(answer.status).toBe(200);
      return Buffer.from(await answer.arrayBuffer());
    },
  };
}

export type Workspaces = Awaited<ReturnType<typeof openWorkspaces>>;
