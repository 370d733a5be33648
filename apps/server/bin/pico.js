#!/usr/bin/env node
// Committed, so that package managers can link the command before the build has made what it runs.
import '../dist/cli.js'
