// Decides what a release needs and does, without effects.

/** The facts about a repository. */
export interface Facts {
  branch: string;
  isClean: boolean;
  /** True when git has the name and the address for a tag. */
  hasIdentity: boolean;
  version: string; // the version in package.json
  changelog: string;
  tags: readonly string[];
  hasDocker: boolean;
  /** True when Docker has its compose plugin, which builds the images. */
  hasCompose: boolean;
  /** True when there is a Python that builds the package for PyPI. */
  hasPython: boolean;
}

export interface Step {
  name: string;
  command: readonly [program: string, ...args: string[]];
  env?: Record<string, string>;
}

const VERSION = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?$/;
const IMAGES = ['gateway', 'mail', 'operations', 'portal', 'scheduler', 'webhooks', 'renderer', 'admin'] as const;

export const tagOf = (version: string) => `v${version}`;

/** Returns everything that keeps this state from being released, in sentences. */
export function problemsOf(facts: Facts): string[] {
  const { version } = facts;
  const notes = notesOf(facts.changelog, version);
  return [
    ...(facts.branch === 'main' ? [] : [`The branch is ${facts.branch}, not main`]),
    ...(facts.isClean ? [] : ['The work tree has changes that are not committed']),
    ...(facts.hasIdentity ? [] : ['Git has no name for the tag: set user.name and user.email']),
    ...(facts.hasDocker && !facts.hasCompose
      ? ['Docker has no compose plugin, which builds the images: install it, or stop Docker to release without images']
      : []),
    ...(facts.hasPython
      ? []
      : ['The package for PyPI needs python3, 3.11 or later, with its modules venv and ensurepip']),
    ...(VERSION.test(version) ? [] : [`The version in package.json is no semantic version: ${version}`]),
    ...(facts.tags.includes(tagOf(version))
      ? [`The tag ${tagOf(version)} exists: raise the version in package.json`]
      : []),
    ...(notes === undefined ? [`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD" with an entry`] : []),
    ...(notesOf(facts.changelog, 'Unreleased') === undefined
      ? []
      : [`CHANGELOG.md has entries under "## Unreleased": move them under "## ${version}"`]),
  ];
}

/** Returns the entries of a version without its heading, or undefined when it has none. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => {
    const heading = text.split('\n', 1)[0]?.trim() ?? '';
    return version === 'Unreleased'
      ? heading === version
      : heading.startsWith(`${version} - `) && /- \d{4}-\d{2}-\d{2}$/.test(heading);
  });
  const notes = section?.split('\n').slice(1).join('\n').trim() ?? '';
  return /^- \S/m.test(notes) ? notes : undefined;
}

/** Returns the steps between the checks above and the sums of the artefacts. @param folder takes the artefacts. */
export function stepsOf({ version, hasDocker }: Facts, folder: string): Step[] {
  const env = { VERSION: version };
  const names = IMAGES.map((name) => `billhook/${name}:${version}`);
  return [
    { name: 'types, lint and tests', command: ['npm', 'run', 'check'] },
    { name: 'system tests', command: ['npm', 'run', 'test:system'] },
    { name: 'release tests', command: ['npm', 'run', 'test:release'] },
    {
      name: 'source archive',
      command: [
        'git',
        'archive',
        '--format=tar.gz',
        `--prefix=billhook-${version}/`,
        `--output=${folder}/billhook-${version}.tar.gz`,
        'HEAD',
      ],
    },
    { name: 'npm package', command: ['npm', 'run', '--silent', 'client:npm', '--', '--out', folder] },
    { name: 'Helm chart', command: ['npm', 'run', '--silent', 'chart', '--', '--out', folder, '--archive'] },
    { name: 'PyPI package', command: ['npm', 'run', '--silent', 'client:pypi', '--', '--out', folder] },
    ...(hasDocker
      ? [
          { name: 'images', command: ['docker', 'compose', 'build'] as const, env },
          {
            name: 'archive of the images',
            command: ['docker', 'save', '--output', `${folder}/billhook-images-${version}.tar`, ...names] as const,
          },
          {
            name: 'compression of the archive',
            command: ['gzip', '--no-name', `${folder}/billhook-images-${version}.tar`] as const,
          },
        ]
      : []),
  ];
}

/** Returns a line of SHA256SUMS in the form that `sha256sum --check` reads. */
export function sumLine(sum: string, file: string): string {
  return `${sum}  ${file}\n`;
}
