import { execFile } from 'node:child_process';

/** Docker's compose plugin, or Debian's docker-compose. */
const COMPOSES = [['docker', 'compose'], ['docker-compose']];

/** Returns the command of the Docker Compose of this machine. Throws when there is none. */
export async function findCompose(environment: NodeJS.ProcessEnv): Promise<string[]> {
  for (const command of COMPOSES) if (await succeeds([...command, 'version'], environment)) return command;
  throw new Error('This test needs Docker Compose (apt-get install docker-compose).');
}

function succeeds([program = '', ...args]: string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, args, { env }, (error) => resolve(!error));
  });
}
