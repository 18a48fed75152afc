import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../support/api.ts';
import { freePort } from '../support/port.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

const GUIDE = new URL('../../docs/how-to/ai-sdk.md', import.meta.url);
const DOCUMENTED = 'http://127.0.0.1:8080';
const STORY = 'a long story '.repeat(4_000);
const STEPS = [{ text: STORY, chunk_chars: 4, delay_ms: 15 }];

/** The code block of the guide in this language. */
async function blockOf(language: string): Promise<string> {
  const text = await readFile(GUIDE, 'utf8');
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(text)?.[1] ?? '';
}

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.[Symbol.asyncDispose]());

/** What a page of this origin needs: changes, large messages and streams without delay. */
async function expectChat(origin: string): Promise<void> {
  const api = createApi(system.url);
  const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps: STEPS } });
  const headers = { 'Content-Type': 'application/json', Origin: origin };
  const path = `${origin}/api/v1/agents/${agent}/conversations`;
  const begun = await fetch(path, { method: 'POST', headers, body: '{}' });
  expect(begun.status).toBe(201);
  const session = ((await begun.json()) as { data: { session_id: string } }).data.session_id;
  const controller = new AbortController();
  const stream = await fetch(`${origin}/api/v1/sessions/${session}/ai-stream?on_disconnect=interrupt`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ content: 'x'.repeat(2_000_000) }),
    signal: controller.signal,
  });
  expect(stream.status).toBe(200);
  let text = '';
  for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('text-delta')) break;
  }
  controller.abort();
  await until('the closed connection has reached the service', async () => {
    const { body } = await api.get(`/sessions/${session}`);
    return body.data.state === 'stopped';
  });
}

describe('the proxy configuration of the guide', () => {
  it('for nginx passes large messages, streams and disconnects on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nginx-'));
    const port = await freePort();
    const location = (await blockOf('nginx')).replace(DOCUMENTED, system.url);
    await writeFile(
      join(folder, 'nginx.conf'),
      `daemon off; user root; pid ${folder}/pid; error_log ${folder}/error.log; events {}
       http {
         access_log off;
         client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
         uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
         server { listen 127.0.0.1:${port}; ${location} }
       }`,
    );
    const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf')], { stdio: 'ignore' });
    const ended = once(nginx, 'exit');
    try {
      const origin = `http://127.0.0.1:${port}`;
      await until('nginx answers', () =>
        fetch(`${origin}/livez`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      await expectChat(origin);
    } finally {
      nginx.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('for Vite passes large messages, streams and disconnects on', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'vite-'));
    const file = join(folder, 'vite.config.js');
    await writeFile(file, (await blockOf('js')).replace(DOCUMENTED, system.url));
    const { default: config } = await import(file);
    const vite = await createServer({
      ...config,
      root: folder,
      configFile: false,
      logLevel: 'silent',
      server: { ...config.server, port: await freePort(), strictPort: true, host: '127.0.0.1' },
    });
    try {
      await vite.listen();
      await expectChat(vite.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? '');
    } finally {
      await vite.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
