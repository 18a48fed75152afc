import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { childrenOf } from '../../services/runner/kernel/processes.ts';
import {
  describeBubblewrap,
  processesWith,
  uniqueSeconds,
} from '../services/runner/sandbox/bubblewrap-suite.ts';
import { RunnerProcess } from '../services/runner/sandbox/remote-provider.ts';
import { runScript, SandboxFixture, sandboxSpec } from '../services/runner/sandbox/run-script.ts';
import { isRoot } from '../support/unprivileged-user.ts';

/** Processes need longer than the default of a poll to start and to end on a busy machine. */
const POLL = { timeout: 20_000 };

describeBubblewrap('the end of a sandbox, and the way out', (given) => {
  it('leaves no process behind, also when the process daemonizes', async () => {
    const sandbox = await given.sandboxes.create();
    const mark = uniqueSeconds();
    const hiding = `sleep ${mark} & (setsid nohup sleep ${mark} > /dev/null 2>&1 &); perl -e 'fork and exit; fork and exit; exec "sleep", "${mark}"'
      trap '' TERM HUP INT; echo here`;
    expect((await runScript(sandbox, hiding)).stdout).toBe('here\n');
    expect(processesWith(`sleep\0${mark}`)).toEqual([]);
    const late = await runScript(sandbox, `${hiding}; sleep ${mark}`, { timeoutMs: 500 });
    expect(late.end).toMatchObject({ cause: 'timeout' });
    expect(processesWith(`sleep\0${mark}`)).toEqual([]);
  });

  it('ends with its runner during a command', async () => {
    const own = await RunnerProcess.start(given.prefix);
    const ownData = join(given.directory, 'killed');
    const provider = await own.openProvider(ownData);
    const sandbox = await provider.create(sandboxSpec());
    const mark = uniqueSeconds();
    const running = runScript(sandbox, `(setsid sleep ${mark} &); sleep ${mark}`).catch(() => undefined);
    await expect.poll(() => processesWith(`sleep\0${mark}`).length, POLL).toBe(2);
    await own.kill();
    await running;
    await expect.poll(() => processesWith(`sleep\0${mark}`), POLL).toEqual([]);
    await using next = await RunnerProcess.start(given.prefix);
    const again = await next.openProvider(ownData);
    await again.sweep();
    expect(readdirSync(join(ownData, 'sandboxes')).filter((one) => one !== '.trash')).toEqual([]);
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(sandbox.sandboxId);
    if (isRoot)
      expect(execFileSync('find', ['/sys/fs/cgroup', '-name', sandbox.sandboxId]).toString()).toBe('');
  });

  it('ends with its runner at any moment of its start', async () => {
    for (let round = 0; round < 15; round++) {
      const own = await RunnerProcess.start(given.prefix);
      const provider = await own.openProvider(join(given.directory, 'early'));
      const sandbox = await provider.create(sandboxSpec());
      const mark = uniqueSeconds();
      const running = runScript(sandbox, `sleep ${mark}`).catch(() => undefined);
      await pause(round * 4);
      await own.kill();
      await running;
      const left = () => [...processesWith(sandbox.sandboxId), ...processesWith(`sleep\0${mark}`)];
      await expect.poll(left, POLL).toEqual([]);
    }
    await using last = await RunnerProcess.start(given.prefix);
    await (await last.openProvider(join(given.directory, 'early'))).sweep();
  });

  /** The processes around a command, outermost first: nsenter, and bubblewrap twice. */
  const around = (sandboxId: string) => processesWith(`/sandbox/${sandboxId}/`);
  /** The processes that hold the namespaces: bubblewrap, and in it the holder. */
  const holding = (sandboxId: string) => {
    const [bubblewrap = 0] = processesWith(`${sandboxId}/workspaces`);
    return [bubblewrap, ...childrenOf(bubblewrap)];
  };

  it.each([
    ['nsenter of the command', (id: string) => around(id)[0]],
    ['the outer bubblewrap of the command', (id: string) => around(id)[1]],
    ['the inner bubblewrap of the command', (id: string) => around(id)[2]],
    ['bubblewrap of the namespaces', (id: string) => holding(id)[0]],
    ['the namespace holder', (id: string) => holding(id)[1]],
  ])('is lost with all of its processes when %s is killed', async (_, victim) => {
    const sandbox = await given.sandboxes.create();
    const mark = uniqueSeconds();
    const running = runScript(sandbox, `(setsid sleep ${mark} &); sleep ${mark}`);
    await expect.poll(() => processesWith(`sleep\0${mark}`).length, POLL).toBe(2);
    process.kill(victim(sandbox.sandboxId) ?? 0, 'SIGKILL');
    const { end } = await running;
    expect([null, 137]).toContain(end.exitCode);
    expect(processesWith(`sleep\0${mark}`)).toEqual([]);
    await sandbox.destroy();
    await expect.poll(() => processesWith(sandbox.sandboxId), POLL).toEqual([]);
  });

  it('reaches the hosts of its allow list and no others', async () => {
    const upstream = createServer((request, answer) =>
      answer.end(`you asked ${request.headers.host}${request.url}`),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => upstream.once('listening', resolve));
    await using own = await RunnerProcess.start(given.prefix);
    const { port } = upstream.address() as AddressInfo;
    const names = {
      'allowed.test': ['93.184.216.34'],
      'inner.test': ['127.0.0.1'],
      'other.test': ['93.184.216.34'],
    };
    await using limited = new SandboxFixture(
      await own.openProvider(join(given.directory, 'limited'), { names, upstream: port }),
    );
    const network = { mode: 'limited' as const, allowedHosts: ['allowed.test', 'inner.test'] };
    const [sandbox, neighbour] = await Promise.all([limited.create({ network }), limited.create()]);
    const request = (url: string) =>
      `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET ${url} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' >&3; head -c 1000 <&3 | head -1; exec 3>&-`;
    const { stdout } = await runScript(
      sandbox,
      `echo $HTTPS_PROXY
      ${request('http://allowed.test/path')}
      ${request('http://other.test/')}
      ${request('http://inner.test/')}
      (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>&1 | grep -o refused | head -1
      cat /proc/net/dev | tail -n +3 | cut -d: -f1`,
    );
    upstream.close();
    expect(stdout.split('\n').map((line) => line.trim())).toEqual([
      'http://127.0.0.1:3128',
      'HTTP/1.1 200 OK',
      'HTTP/1.1 403 Forbidden',
      'HTTP/1.1 403 Forbidden',
      'refused',
      'lo',
      '',
    ]);
    expect(own.log.map((line) => JSON.parse(line)).map(({ host, port: to }) => `${host} ${to}`)).toEqual([
      'other.test 80',
      'inner.test 80',
    ]);
    expect(
      (await runScript(neighbour, '(exec 3<>/dev/tcp/127.0.0.1/3128) 2>&1 | grep -o refused | head -1'))
        .stdout,
    ).toBe('refused\n');
  });
});
