// Starts `cargo-xhist dap` for sessions of the type xhist, and has commands for what the toolbar has no button for.
'use strict';

const vscode = require('vscode');

/** Words of the debug console that are commands, too. */
const WORDS = ['rin', 'rout', 'prev', 'next'];

/** The adapter of a session. */
function adapter(session) {
  const command = vscode.workspace.getConfiguration('xhist').get('command') || 'cargo-xhist';
  const folder = session.workspaceFolder && session.workspaceFolder.uri.fsPath;
  const options = session.configuration.cwd || folder ? { cwd: session.configuration.cwd || folder } : undefined;
  return new vscode.DebugAdapterExecutable(command, ['dap'], options);
}

/** A configuration that is complete: without a file launch.json all is missing. */
function complete(folder, configuration) {
  const empty = !configuration.type;
  const base = empty ? { type: 'xhist', request: 'launch', name: 'The run that failed last' } : configuration;
  return folder && !base.cwd ? { ...base, cwd: folder.uri.fsPath } : base;
}

/** Says a word in the debug console of the session. */
async function say(word) {
  const session = vscode.debug.activeDebugSession;
  if (!session || session.type !== 'xhist') return;
  try {
    await session.customRequest('evaluate', { expression: word, context: 'repl' });
  } catch (error) {
    vscode.window.showWarningMessage(error.message);
  }
}

exports.activate = (context) => {
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory('xhist', { createDebugAdapterDescriptor: adapter }),
    vscode.debug.registerDebugConfigurationProvider('xhist', { resolveDebugConfiguration: complete }),
    ...WORDS.map((word) => vscode.commands.registerCommand(`xhist.${word}`, () => say(word))),
  );
};
