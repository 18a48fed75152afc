import { Refusal } from '../../lib/errors.ts';

/** The reason why an enabled deployment cannot start a session. */
export type Obstacle = 'agent_deleted' | 'agent_disabled' | 'environment_disabled' | 'owner_disabled';

/** Maps a refusal of another service; undefined when it is no obstacle. */
export function obstacleOf(error: unknown): Obstacle | undefined {
  switch (error instanceof Refusal ? error.code : undefined) {
    case 'AGENT_NOT_FOUND':
    case 'AGENT_VERSION_NOT_FOUND':
      return 'agent_deleted';
    case 'AGENT_NOT_RUNNABLE':
      return 'agent_disabled';
    case 'ENVIRONMENT_NOT_FOUND':
    case 'ENVIRONMENT_DISABLED':
      return 'environment_disabled';
    case 'USER_NOT_FOUND':
      return 'owner_disabled';
    default:
      return undefined;
  }
}

/** Returns the obstacle that an error stands for. Throws every other error. */
export function obstacleIn(error: unknown): Obstacle {
  const obstacle = obstacleOf(error);
  if (!obstacle) throw error;
  return obstacle;
}
