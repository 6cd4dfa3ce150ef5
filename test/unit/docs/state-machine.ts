// Writes the table of moves of a state machine as a diagram, for the pages that show one.

interface ShownMove {
  by: string;
  from: readonly string[];
  to: string;
}

/** Returns the diagram of the moves by name. One to `same` is no arrow. */
export function stateDiagram(moves: readonly (readonly [string, ShownMove])[]): string {
  const steps = moves
    .filter(([, { to }]) => to !== 'same')
    .flatMap(([name, { by, from, to }]) =>
      (from.length > 0 ? from : ['[*]']).map((state) => ({
        arrow: `${state} --> ${to}`,
        label: `${inWords(name)} (${by})`,
      })),
    );
  const arrows = [...Map.groupBy(steps, ({ arrow }) => arrow)];
  const lines = arrows.map(([arrow, group]) => `  ${arrow}: ${group.map(({ label }) => label).join('<br/>')}`);
  return ['```mermaid', 'stateDiagram-v2', ...lines, '```'].join('\n');
}

/** Returns a state as code. */
export const code = (state: string) => `\`${state}\``;

/** Returns the name of a move in words: `fanOut` is `fan out`. */
export const inWords = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
