import { Type } from 'typebox';
import { checkAdministrator } from '../door/door.ts';
import { list } from '../envelope.ts';
import { route } from '../route.ts';
import { flag, nullable, text } from '../schemas/common.ts';

const SettingShape = Type.Object(
  {
    name: text('The environment variable.', { examples: ['SERVICE_PORT'] }),
    value: nullable(text('What is in force; null for secrets and for what is not set.'), {
      examples: ['8080'],
    }),
    is_set: flag('Somebody has set it; otherwise it is the default.', false),
    is_secret: flag('Its value is shown nowhere.', false),
    about: text('What it does.', { examples: ['The port to listen on.'] }),
  },
  { title: 'Setting' },
);

export const configurationRoutes = [
  route({
    method: 'GET',
    path: '/admin/configuration',
    operationId: 'getConfiguration',
    tag: 'Configuration',
    summary: 'Read the configuration',
    description:
      'For administrators. All settings as the process that answers reads them, by name. Where modules run in processes of ' +
      'their own, another process may have been given others.',
    success: { status: 200, description: 'All settings.', data: SettingShape, list: true },
    errors: ['FORBIDDEN'],
    async answer({ request, configuration }) {
      checkAdministrator(request);
      const shown = configuration.map(({ variable, value, isSet, isSecret, about }) => ({
        name: variable,
        value: value ?? null,
        is_set: isSet,
        is_secret: isSecret,
        about,
      }));
      return list(shown, undefined);
    },
  }),
];
