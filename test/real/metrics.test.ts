import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createApi } from '../support/api.ts';
import { startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

/** Returns what Prometheus' linter says about a scrape; empty if it has nothing to say. */
async function lint(metrics: string): Promise<string> {
  const promtool = spawn('promtool', ['check', 'metrics']);
  const [said, problems, [code]] = await Promise.all([
    text(promtool.stdout),
    text(promtool.stderr),
    once(promtool, 'close'),
    promtool.stdin.end(metrics),
  ]);
  return code === 0 ? said + problems : `exit code ${code}: ${said}${problems}`;
}

describe.each(['', 'routes,rpcs,statements,models'])(
  '/metrics with SERVICE_METRICS_HISTOGRAMS="%s"',
  (histograms) => {
    it('passes promtool check metrics after a webhook, a conversation and refused requests', async () => {
      await using system = await startSystem({ SERVICE_METRICS_HISTOGRAMS: histograms });
      const api = createApi(system.url);
      const agentId = await api.createAgent();
      const webhook = await api.createWebhook(agentId);
      const { body } = await api.trigger(webhook, 'hello');
      await api.trigger({ ...webhook, secret: 'another' }, 'hello');
      await api.get('/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
      await until('the turn has ended', async () => {
        const session = await api.get(`/sessions/${body.data.session_id}`);
        return session.body.data.status === 'idle';
      });
      const metrics = await (await fetch(`${system.url}/metrics`)).text();
      expect(metrics).toContain('gen_ai_client_token_usage_count');
      expect(await lint(metrics)).toBe('');
    });
  },
);
