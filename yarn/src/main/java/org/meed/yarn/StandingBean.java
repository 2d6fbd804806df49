package org.meed.yarn;

import java.lang.management.ManagementFactory;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whose turn it is, and why: a resource of the ResourceManager's own web server, which shows beans.
 * {@code meed queues --yarn} and {@code meed why --yarn} ask it.
 *
 * <p>{@code /jmx?get=Hadoop:service=ResourceManager,name=MeedStanding::Queues} and {@code
 * ...::Why.application_1_0001} are answered with JSON in a text. Attributes that take time are not
 * listed, so who reads all beans does not wait for them. A web server that asks who somebody is
 * asks before it answers this, as before all of {@code /jmx}.
 */
final class StandingBean implements DynamicMBean, AutoCloseable {
  static final String NAME = "Hadoop:service=ResourceManager,name=MeedStanding";
  private static final Logger LOG = LoggerFactory.getLogger(StandingBean.class);
  private static final String QUEUES = "Queues";
  private static final String WHY = "Why.";
  private static final String PROTOCOL = "Protocol";

  private final LedgerMonitor monitor;

  /** One at a time in a process: that of the ResourceManager that is active. */
  StandingBean(LedgerMonitor monitor) {
    this.monitor = monitor;
    try {
      MBeanServer server = ManagementFactory.getPlatformMBeanServer();
      ObjectName name = new ObjectName(NAME);
      if (server.isRegistered(name)) {
        server.unregisterMBean(name);
      }
      server.registerMBean(this, name);
    } catch (JMException e) {
      // Nobody can ask then; turns are as fair as before.
      LOG.warn("meed queues --yarn and meed why --yarn will not be answered", e);
    }
  }

  @Override
  public void close() {
    try {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(NAME));
    } catch (JMException e) {
      LOG.debug("the bean was not there", e);
    }
  }

  @Override
  public Object getAttribute(String attribute) {
    if (attribute.equals(QUEUES)) {
      return monitor.explain(null);
    }
    if (attribute.startsWith(WHY)) {
      return monitor.explain(attribute.substring(WHY.length()));
    }
    return attribute.equals(PROTOCOL) ? Native.PROTOCOL : null;
  }

  @Override
  public AttributeList getAttributes(String[] names) {
    AttributeList list = new AttributeList();
    for (String name : names) {
      list.add(new Attribute(name, getAttribute(name)));
    }
    return list;
  }

  @Override
  public void setAttribute(Attribute attribute) {
    throw new UnsupportedOperationException("it is only read");
  }

  @Override
  public AttributeList setAttributes(AttributeList attributes) {
    return new AttributeList();
  }

  @Override
  public Object invoke(String action, Object[] parameters, String[] signature) {
    throw new UnsupportedOperationException("it is only read");
  }

  @Override
  public MBeanInfo getMBeanInfo() {
    MBeanAttributeInfo[] attributes = {new MBeanAttributeInfo(
        PROTOCOL, "int", "The version that is spoken here", true, false, false)};
    return new MBeanInfo(StandingBean.class.getName(), "Whose turn it is, and why", attributes,
        null, null, null);
  }
}
