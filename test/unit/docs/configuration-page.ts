// Writes docs/configuration.md from what the services read, so that the page cannot say anything else.
import { REDIS_URL_OPTIONS } from '#libs/redis/address.ts';
import { OUR_PREFIXES } from '#libs/service/known-variables.ts';
import { readConfig } from '../../../deploy/local/config.ts';
import { services, type Variable, variablesOf } from '../deploy/configuration.ts';

export const PAGE = 'docs/configuration.md';

export function configurationPage(): string {
  return `<!-- Made by "npm run docs" from the services' own config shapes; a test compares them. Do not edit by hand. -->
# Configuration

Every setting is an environment variable, read once at start. A service that cannot use its environment says everything that is
wrong with it in one list and exits with 78. An empty variable counts as not set.

**Secrets from files:** for every variable \`NAME\` below, \`NAME_FILE\` may name a file that holds the value instead (a mounted secret);
setting both is refused. **Two systems on one Redis** need two values of \`REDIS_PREFIX\`.

**A misspelt variable stops the start**, too (exit 78, with the nearest right name), because its value would silently have no effect. A variable counts as misspelt
when no part of Billhook reads it and it either begins with ${prefixes()}, is a few letters off a name below
(\`LOG_LEVL\`), or is the beginning of one (\`WEBHOOK_TIMEOUT\`). What Kubernetes and Docker set for services (\`REDIS_PORT=tcp://…\`,
\`GATEWAY_SERVICE_HOST\`) is left alone, and so are other spellings of the stores' addresses (\`REDIS_URI\`) once ours are set.

${table()}

The administrator's commands read \`MONGODB_URI\`, \`REDIS_URL\`, \`REDIS_PREFIX\`, \`SECRET_KEY\` and \`OUTBOUND_ALLOW\` in the same way. The images set \`HEALTH_PORT=9090\`, and the renderer's \`CHROMIUM_PATH\`.
Compose has a few variables of its own (ports, sizes, numbers of processes); they stand with their defaults in \`docker-compose.yml\`.
What it names in \`\${…}\` is what \`.env\` can set there. Any other name, misspelt ones among them, reaches no service and is not noticed; the addresses of the stores and the key are its own.

## Several servers of Redis

| Redis | \`REDIS_URL\` | Options |
|---|---|---|
${redisRows()}

A primary that Sentinel or a cluster replaces is found again without a restart. \`rediss+sentinel://\` and \`rediss+cluster://\` speak TLS, to the
sentinels, too; \`NODE_EXTRA_CA_CERTS\` names the certificate of your own authority. Encode \`:\`, \`/\`, \`?\`, \`@\` and \`%\` in user names and passwords, such as \`%40\` for \`@\`.
Name several hosts: one that answers is enough to find all others. How to run either: [scale.md](scale.md#redis).

## Keys

\`SECRET_KEY\` is 32 random bytes in base64 (\`openssl rand -base64 32\`). Several may be given, separated by commas: the first encrypts,
all decrypt. How to change it: [secure.md](secure.md).

## \`npm start\`

\`\`\`text
${localHelp()}
\`\`\`
`;
}

function redisRows(): string {
  const forms = {
    sentinel: ['Sentinel', 'redis+sentinel://USER:PASSWORD@HOST:26379,HOST:26379/NAME-OF-PRIMARY'],
    cluster: ['Redis Cluster', 'redis+cluster://USER:PASSWORD@HOST:6379,HOST:6379'],
  } as const;
  return (['sentinel', 'cluster'] as const)
    .map((kind) => {
      const options = Object.entries(REDIS_URL_OPTIONS[kind]).map(([name, text]) => `\`?${name}=\` ${text}`);
      const [name, form] = forms[kind];
      return `| ${name} | \`${form}\` | ${options.join('. ')} |`;
    })
    .join('\n');
}

function prefixes(): string {
  const all = OUR_PREFIXES.map((prefix) => `\`${prefix}\``);
  return `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;
}

function table(): string {
  const readers = new Map<string, { variable: Variable; by: string[] }>();
  for (const service of services) {
    for (const variable of variablesOf(service)) {
      const entry = readers.get(variable.name) ?? { variable, by: [] };
      entry.by.push(service);
      readers.set(variable.name, entry);
    }
  }
  const rows = [...readers.values()].map(({ variable, by }) =>
    [
      `\`${variable.name}\``,
      variable.isRequired ? '**required**' : shown(variable.default),
      by.length === services.length ? 'all' : by.join(', '),
      [variable.description, variable.accepts && `*${variable.accepts}*`].filter(Boolean).join('. '),
    ]
      .map((cell) => cell.replaceAll('|', '\\|'))
      .join(' | '),
  );
  return ['Variable | Default | Read by | What it is', '---|---|---|---', ...rows]
    .map((row) => `| ${row} |`)
    .join('\n');
}

function shown(value: Variable['default']): string {
  return value === undefined || value === '' ? '–' : `\`${value}\``;
}

function localHelp(): string {
  const answer = readConfig(['--help'], {});
  if (!('help' in answer)) throw new Error('--help did not answer with the help');
  return answer.help.trim();
}
