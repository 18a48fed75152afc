import { Type } from 'typebox';
import type { ChannelCheck, SetupStep } from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { flag, NULL, nullable, text, time } from '../common.ts';

export const ProbeShape = Type.Object(
  {
    checks: Type.Array(
      Type.Object(
        {
          name: text('The scope, intent or other fact that was checked.', { examples: ['token'] }),
          ok: flag('Whether the check passed.'),
          problem: nullable(text('The problem, and its remedy.'), NULL),
        },
        { title: 'ChannelCheck' },
      ),
    ),
    checked_at: time('The time of the checks.'),
  },
  { title: 'ChannelProbe' },
);

export const SetupShape = Type.Object(
  {
    steps: Type.Array(
      Type.Object(
        {
          name: text('The name of the step.', { examples: ['create_app'] }),
          instruction: text('What to do.'),
          url: nullable(text('A page of the product.')),
          content: nullable(text('Text to copy, for example an app manifest.')),
          content_type: nullable(text('The media type of `content`.'), NULL),
          done: flag('Whether the step is complete.', false),
        },
        { title: 'SetupStep' },
      ),
    ),
  },
  { title: 'ChannelSetup' },
);

export const serializeCheck = ({ name, ok, problem }: ChannelCheck) => ({
  name,
  ok,
  problem: problem || null,
});

export const serializeSetupStep = (step: SetupStep) => ({
  name: step.name,
  instruction: step.instruction,
  url: step.url || null,
  content: step.content || null,
  content_type: step.contentType || null,
  done: step.done,
});
