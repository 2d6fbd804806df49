/*
 * Runs four small MapReduce jobs on a mini cluster, for their job histories: two that end well in
 * both forms of the file (one with a map that fails once), one of maps only, one that is killed.
 * Writes counters.tsv: what Hadoop's own client is told of each job. histories.sh runs it.
 */
import java.io.*;
import java.nio.file.*;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.io.*;
import org.apache.hadoop.mapreduce.*;
import org.apache.hadoop.mapreduce.v2.MiniMRYarnCluster;
import org.apache.hadoop.mapreduce.lib.output.NullOutputFormat;
import org.apache.hadoop.mapreduce.lib.partition.HashPartitioner;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

public class History {
  public static class Split extends InputSplit implements Writable {
    int number;
    public Split() { }
    Split(int number) { this.number = number; }
    public long getLength() { return 1; }
    public String[] getLocations() { return new String[0]; }
    public void write(DataOutput out) throws IOException { out.writeInt(number); }
    public void readFields(DataInput in) throws IOException { number = in.readInt(); }
  }
  public static class Input extends InputFormat<IntWritable, IntWritable> {
    public List<InputSplit> getSplits(JobContext c) {
      List<InputSplit> all = new ArrayList<>();
      for (int i = 0; i < c.getConfiguration().getInt("h.maps", 1); i++) all.add(new Split(i));
      return all;
    }
    public RecordReader<IntWritable, IntWritable> createRecordReader(
        InputSplit s, TaskAttemptContext c) {
      final int number = ((Split) s).number;
      return new RecordReader<IntWritable, IntWritable>() {
        boolean told;
        public void initialize(InputSplit i, TaskAttemptContext t) { }
        public boolean nextKeyValue() { boolean now = !told; told = true; return now; }
        public IntWritable getCurrentKey() { return new IntWritable(number); }
        public IntWritable getCurrentValue() { return new IntWritable(1); }
        public float getProgress() { return 0; }
        public void close() { }
      };
    }
  }
  public static class M extends Mapper<IntWritable, IntWritable, IntWritable, IntWritable> {
    protected void map(IntWritable k, IntWritable v, Context c)
        throws IOException, InterruptedException {
      Thread.sleep(c.getConfiguration().getInt("h.map_ms", 500) * (1 + k.get() % 3));
      int attempt = c.getTaskAttemptID().getId();
      if (attempt == 0 && k.get() == c.getConfiguration().getInt("h.fails", -1)) {
        throw new IOException("as asked");
      }
      c.write(k, v);
    }
  }
  public static class R extends Reducer<IntWritable, IntWritable, IntWritable, IntWritable> {
    protected void cleanup(Context c) throws InterruptedException {
      Thread.sleep(c.getConfiguration().getInt("h.reduce_ms", 700));
    }
  }
  static Job job(Configuration base, String name, String queue, String format, int maps,
      int reduces, int mapMb, int reduceMb, int reduceCores, int fails) throws Exception {
    Configuration conf = new Configuration(base);
    conf.set("mapreduce.jobhistory.jhist.format", format);
    conf.set("mapreduce.job.queuename", queue);
    conf.setInt("h.maps", maps);
    conf.setInt("h.fails", fails);
    conf.setInt("mapreduce.map.memory.mb", mapMb);
    conf.setInt("mapreduce.reduce.memory.mb", reduceMb);
    conf.setInt("mapreduce.reduce.cpu.vcores", reduceCores);
    conf.set("mapreduce.map.java.opts", "-Xmx180m");
    conf.set("mapreduce.reduce.java.opts", "-Xmx180m");
    conf.setInt("mapreduce.task.io.sort.mb", 16);
    conf.setInt("yarn.app.mapreduce.am.resource.mb", 512);
    conf.set("yarn.app.mapreduce.am.command-opts", "-Xmx300m");
    conf.setBoolean("mapreduce.map.speculative", false);
    conf.setBoolean("mapreduce.reduce.speculative", false);
    Job job = Job.getInstance(conf, name);
    job.setInputFormatClass(Input.class);
    job.setMapperClass(M.class);
    job.setReducerClass(R.class);
    job.setNumReduceTasks(reduces);
    job.setMapOutputKeyClass(IntWritable.class);
    job.setMapOutputValueClass(IntWritable.class);
    job.setOutputFormatClass(NullOutputFormat.class);
    return job;
  }
  public static void main(String[] args) throws Exception {
    String work = args[0];
    Configuration conf = new YarnConfiguration();
    conf.set("fs.defaultFS", "file:///");
    conf.set("hadoop.tmp.dir", work + "/tmp");
    conf.set("yarn.app.mapreduce.am.staging-dir", work + "/staging");
    String jars = System.getProperty("java.class.path").replace(':', ',');
    conf.set("yarn.application.classpath", jars);
    conf.set("mapreduce.application.classpath", jars);
    conf.set("yarn.resourcemanager.scheduler.class",
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler");
    conf.setInt("yarn.scheduler.minimum-allocation-mb", 128);
    conf.setInt("yarn.resource-types.memory-mb.increment-allocation", 128);
    conf.setInt("yarn.minicluster.yarn.nodemanager.resource.memory-mb", 2048);
    conf.setInt("yarn.nodemanager.resource.memory-mb", 2048);
    conf.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
    conf.setBoolean("yarn.nodemanager.pmem-check-enabled", false);
    String disk = "yarn.nodemanager.disk-health-checker.";
    conf.setFloat(disk + "max-disk-utilization-per-disk-percentage", 99.9f);
    conf.setFloat("mapreduce.job.reduce.slowstart.completedmaps", 0.3f);
    MiniMRYarnCluster cluster = new MiniMRYarnCluster("history", 1);
    cluster.init(conf);
    cluster.start();
    Configuration c = cluster.getConfig();
    Job[] jobs = {
      job(c, "etl nightly", "root.etl", "binary", 6, 2, 256, 384, 2, -1),
      job(c, "ad \"hoc\"\n", "root.adhoc.ml", "json", 4, 1, 256, 256, 1, 1),
      job(c, "maps only", "root.etl", "json", 3, 0, 384, 256, 1, -1),
      job(c, "is killed", "root.adhoc.ml", "binary", 5, 1, 256, 256, 1, -1),
    };
    jobs[3].getConfiguration().setInt("h.map_ms", 60000);
    for (Job job : jobs) {
      job.submit();
      Thread.sleep(3000);
    }
    while (jobs[3].getStatus().getState() != JobStatus.State.RUNNING
        || jobs[3].mapProgress() <= 0) {
      Thread.sleep(500);
      if (jobs[3].isComplete()) break;
      boolean runs = false;
      for (TaskReport r : jobs[3].getTaskReports(TaskType.MAP)) {
        runs |= r.getCurrentStatus().name().equals("RUNNING");
      }
      if (runs) { Thread.sleep(4000); break; }
    }
    jobs[3].killJob();
    try (PrintWriter out = new PrintWriter(work + "/counters.tsv")) {
      for (Job job : jobs) {
        while (!job.isComplete()) Thread.sleep(300);
        Counters counters = null;
        for (int i = 0; i < 60 && counters == null; i++) {
          try {
            counters = job.getCounters();
          } catch (IOException e) {
            // The history server has not read it yet.
          }
          Thread.sleep(500);
        }
        // A job that is killed has none.
        if (counters == null) {
          continue;
        }
        for (JobCounter k : JobCounter.values()) {
          long v = counters.findCounter(k).getValue();
          if (v != 0) out.println(job.getJobID() + "\t" + k + "\t" + v);
        }
      }
    }
    Thread.sleep(8000);
    cluster.stop();
    System.exit(0);
  }
}
