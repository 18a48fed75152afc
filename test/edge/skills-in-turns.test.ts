import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skillFile, skillZip, zipOf } from '../services/agents/skills/archives.ts';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

const LARGE = 64 * 1024;

interface ToolResult {
  tool_use_id: string;
  output: string;
  is_error: boolean;
}

describe('skills in turns', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system?.[Symbol.asyncDispose]());

  async function publish(bytes: Buffer): Promise<string> {
    const response = await fetch(`${system.url}/api/v1/admin/skills`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/zip' },
      body: new Uint8Array(bytes),
    });
    return ((await response.json()) as { data: { skill_id: string } }).data.skill_id;
  }

  /** An agent whose turns make these calls, with these skills. */
  async function agentWith(
    calls: { tool: string; input: object }[],
    skillIds: string[],
    members: object = {},
  ) {
    const steps = [...calls, { text: 'Done' }];
    const agentId = await api.createAgent({
      model: 'rehearsal/script',
      model_options: { steps },
      ...members,
    });
    await api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [], skill_ids: skillIds });
    return agentId;
  }

  async function begin(agentId: string): Promise<string> {
    const { body } = await api.post(`/agents/${agentId}/conversations`, { message: 'Go', wait_seconds: 60 });
    return String(body.data.session_id);
  }

  async function results(sessionId: string) {
    const events = await api.list<{ type: string; data: ToolResult }>(
      `/sessions/${sessionId}/events?limit=100`,
    );
    const found = events.filter(({ type }) => type === 'agent.tool_result').map(({ data }) => data);
    // Calls of one step end in any order.
    return found.toSorted((one, other) => one.tool_use_id.localeCompare(other.tool_use_id));
  }

  it('reads the files of a skill without a sandbox', async () => {
    const files = {
      'references/forms.md': 'Use ink.',
      'large.txt': 'x'.repeat(LARGE),
      'larger.txt': 'x'.repeat(LARGE + 1),
    };
    const skillId = await publish(skillZip('reading', files));
    const call = (path?: string, name = 'reading') => ({
      tool: 'load_skill',
      input: { name, ...(path && { path }) },
    });
    const calls = [
      call(),
      call('references/forms.md'),
      call('large.txt'),
      call('larger.txt'),
      call('absent'),
      call('../x'),
    ];
    const sessionId = await begin(await agentWith([...calls, call(undefined, 'other')], [skillId]));
    const shown = await results(sessionId);
    expect(shown[0]).toMatchObject({
      is_error: false,
      output: expect.stringContaining(`${skillFile('reading')}\n\n[Other files of the skill`),
    });
    expect(shown[0]?.output).toContain('references/forms.md');
    expect(shown[1]).toMatchObject({ output: 'Use ink.', is_error: false });
    expect(shown[2]?.output).toHaveLength(LARGE);
    expect(shown[3]).toMatchObject({ is_error: true, output: expect.stringContaining('more than 64 KiB') });
    expect(shown[4]).toMatchObject({ is_error: true, output: 'The skill has no file "absent".' });
    expect(shown[5]).toMatchObject({ is_error: true });
    expect(shown[6]).toMatchObject({
      is_error: true,
      output: 'There is no skill "other". There are reading.',
    });
    const sandboxes = await api.list<{ tenant_id: string }>('/admin/sandboxes');
    expect(sandboxes.filter((one) => one.tenant_id === sessionId)).toEqual([]);
  });

  it('offers a disabled skill no longer from the next turn on', async () => {
    const skillId = await publish(skillZip('switched'));
    const agentId = await agentWith([{ tool: 'load_skill', input: { name: 'switched' } }], [skillId]);
    const outcome = async () => (await results(await begin(agentId)))[0]?.is_error;
    expect(await outcome()).toBe(false);
    await api.send('PATCH', `/admin/skills/${skillId}`, { enabled: false });
    expect(await outcome()).toBe(true);
    await api.send('PATCH', `/admin/skills/${skillId}`, { enabled: true });
    expect(await outcome()).toBe(false);
  });

  it('lets commands of its sessions read the files of a skill and run its scripts, and no other commands', async () => {
    const script = { name: 'scripts/total.sh', data: '#!/bin/sh\nwc -l < "$1"\n', mode: 0o100755 };
    const skillId = await publish(zipOf([{ name: 'SKILL.md', data: skillFile('counting') }, script]));
    const bash = (command: string) => ({ tool: 'bash', input: { command } });
    const look = bash('ls /skills && cat /skills/counting/SKILL.md');
    const count = bash('echo one > lines; bash /skills/counting/scripts/total.sh lines');
    const agentId = await agentWith([look, count, bash('touch /skills/counting/SKILL.md')], [skillId]);
    const [seen, counted, written] = await results(await begin(agentId));
    expect(seen).toMatchObject({ is_error: false, output: `counting\n${skillFile('counting')}` });
    expect(counted).toMatchObject({ is_error: false, output: expect.stringMatching(/^\s*1\n$/) });
    expect(written?.output).toMatch(/(denied|read-only).*\n\[exit code/i);
    const others = [
      await agentWith([look], []),
      await agentWith([look], [await publish(skillZip('unrelated'))]),
      await agentWith([look], [skillId], { tools: [{ name: 'load_skill', permission: 'deny' }] }),
    ];
    await api.send('PATCH', `/admin/skills/${skillId}`, { enabled: false });
    for (const one of [...others, agentId]) {
      const [shown] = await results(await begin(one));
      expect(shown?.output).toMatch(/\[exit code/);
      expect(shown?.output).not.toMatch(/^counting/);
    }
  });

  it('keeps a session at the version of its agent version', async () => {
    const skillId = await publish(zipOf([{ name: 'SKILL.md', data: skillFile('kept', undefined, 'First') }]));
    const agentId = await agentWith([{ tool: 'load_skill', input: { name: 'kept' } }], [skillId]);
    await fetch(`${system.url}/api/v1/admin/skills/${skillId}/versions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/zip' },
      body: new Uint8Array(zipOf([{ name: 'SKILL.md', data: skillFile('kept', undefined, 'Second') }])),
    });
    expect((await results(await begin(agentId)))[0]?.output).toContain('First');
  });
});
