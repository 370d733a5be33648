import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs Kafka's command-line tools one after the other in one JVM, as their scripts would: a line of input is a step, its parts
 * separated by tabs: the main class, what it reads on standard input (base64), its arguments. Prints for each a line with the exit
 * code and what it printed on both outputs (base64).
 */
public class RunTools {
  /** What a tool does after it wanted to exit, on the way out of its own catch blocks, counts for nothing. */
  static class Exited extends RuntimeException {
  }

  static final Thread tool = Thread.currentThread();
  static Integer exitCode;
  static String printedUntilExit;

  static RuntimeException exit(int code, ByteArrayOutputStream printed) {
    // Threads that a tool leaves behind may want to exit when another one is running.
    if (exitCode == null && Thread.currentThread() == tool) {
      exitCode = code;
      printedUntilExit = printed.toString(StandardCharsets.UTF_8);
    }
    return new Exited();
  }

  public static void main(String[] args) throws Exception {
    PrintStream answers = System.out;
    BufferedReader steps = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String step = steps.readLine(); step != null; step = steps.readLine()) {
      List<String> parts = new ArrayList<>(Arrays.asList(step.split("\t", -1)));
      ByteArrayOutputStream printed = new ByteArrayOutputStream();
      exitCode = null;
      Exit.setExitProcedure((code, message) -> {
        throw exit(code, printed);
      });
      Exit.setHaltProcedure((code, message) -> {
        throw exit(code, printed);
      });
      int code = run(parts.remove(0), Base64.getDecoder().decode(parts.remove(0)), parts, printed);
      if (exitCode == null) exit(code, printed);
      byte[] bytes = printedUntilExit.getBytes(StandardCharsets.UTF_8);
      answers.println(exitCode + " " + Base64.getEncoder().encodeToString(bytes));
      answers.flush();
    }
  }

  static int run(String tool, byte[] input, List<String> args, ByteArrayOutputStream printed) throws Exception {
    InputStream in = System.in;
    PrintStream out = System.out;
    PrintStream err = System.err;
    PrintStream both = new PrintStream(printed, true, StandardCharsets.UTF_8);
    System.setIn(new ByteArrayInputStream(input));
    System.setOut(both);
    System.setErr(both);
    try {
      Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) args.toArray(new String[0]));
      return 0;
    } catch (InvocationTargetException thrown) {
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
        if (cause instanceof Exited) return 0;
      }
      thrown.getCause().printStackTrace(both);
      return 99;
    } finally {
      System.setIn(in);
      System.setOut(out);
      System.setErr(err);
    }
  }
}
