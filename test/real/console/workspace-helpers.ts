import { expect } from 'vitest';
import type { ConsoleFixture } from './console-fixture.ts';

/** Helpers for sessions with an agent that runs commands in a simulated shell, and for their files. */
export async function createWorkspaceHelpers({ api, system }: ConsoleFixture) {
  const { body } = await api.post('/admin/environments', {
    name: 'files-in-the-console',
    sandbox: { provider: 'simulated' },
  });
  const environment_id = body.data.environment_id;
  const agent = await api.createAgent({ name: 'Shell', model: 'rehearsal/shell', environment_id });
  const urlOf = (session: string, rest = '') => `${system.url}/api/v1/sessions/${session}/files${rest}`;
  return {
    /** An environment with a simulated sandbox. */
    environmentId: String(environment_id),
    urlOf,
    begin: async () => String((await api.post(`/agents/${agent}/conversations`)).body.data.session_id),
    async put(session: string, files: Record<string, string>): Promise<void> {
      const form = new FormData();
      form.append('path', '');
      for (const [name, content] of Object.entries(files)) form.append('files', new File([content], name));
      expect((await fetch(urlOf(session), { method: 'POST', body: form })).status).toBe(201);
    },
    async bytesOf(session: string, path: string): Promise<Buffer> {
      const response = await fetch(urlOf(session, `/content?path=${encodeURIComponent(path)}`));
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer());
    },
  };
}

export type WorkspaceHelpers = Awaited<ReturnType<typeof createWorkspaceHelpers>>;
